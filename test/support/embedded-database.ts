import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { connect, type Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';

export type EmbeddedDatabase = { readonly db: Database; drop(): Promise<void> };

/** What a copied database holds: `empty` as opening a folder for the first time leaves it, or the schema of the migrations. */
type Content = 'empty' | 'migrated';

/** An embedded database of its own. */
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

/** Puts an embedded database into a folder. To make one keeps both cores busy for seconds, so it is made once for the suite, and copied. */
export async function layEmbeddedDatabase(folder: string, content: Content = 'empty'): Promise<void> {
  cpSync(await findFirst(content), folder, { recursive: true });
}

/** Folder of a migrated one, to be copied and never opened. */
export function migratedDatabase(): Promise<string> {
  return findFirst('migrated');
}

/** The one that is copied, made where there is none yet. */
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

/** Another worker may have been quicker. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    rmSync(from, { recursive: true });
  }
}
