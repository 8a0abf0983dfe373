import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { connect, type Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';

export type EmbeddedDatabase = { readonly db: Database; drop(): Promise<void> };

/**
 * Content of a copied database: `empty` as after opening a folder for the first time, or with the schema of
 * the migrations.
 */
type Content = 'empty' | 'migrated';

/** Creates a separate embedded database. */
export async function createEmbeddedDatabase(content: Content): Promise<EmbeddedDatabase> {
  const folder = mkdtempSync(join(inject('suiteFolder'), 'embedded-'));
  await layEmbeddedDatabase(folder, content);
  const db = await connect({ url: '', embeddedFolder: folder });
  return {
    db,
    async drop() {
      await db.destroy();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Copies an embedded database to a folder. Creating one keeps both cores busy for seconds, so it is created
 * once for the suite.
 */
export async function layEmbeddedDatabase(folder: string, content: Content = 'empty'): Promise<void> {
  cpSync(await findFirst(content), folder, { recursive: true });
}

/** Folder of a migrated database. Copy it, and never open it. */
export function migratedDatabase(): Promise<string> {
  return findFirst('migrated');
}

/** The folder that is copied. Created on first use. */
async function findFirst(content: Content): Promise<string> {
  const first = join(inject('suiteFolder'), `first-embedded-${content}`);
  if (existsSync(first)) return first;
  const made = mkdtempSync(join(inject('suiteFolder'), 'embedded-'));
  if (content === 'migrated') await layEmbeddedDatabase(made);
  const db = await connect({ url: '', embeddedFolder: made });
  if (content === 'migrated') await migrate(db);
  await db.destroy();
  moveUnlessThere(made, first);
  return first;
}

/** Another worker may have already created it. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    rmSync(from, { recursive: true });
  }
}
