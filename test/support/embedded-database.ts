import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { connect, type Database } from '../../src/db/connect.ts';

export type EmbeddedDatabase = { readonly db: Database; drop(): Promise<void> };

/** An embedded database of its own, without a schema. */
export async function createEmbeddedDatabase(): Promise<EmbeddedDatabase> {
  const folder = mkdtempSync(join(inject('suiteFolder'), 'embedded-'));
  await layEmbeddedDatabase(folder);
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
 * Puts an embedded database without a schema into a folder, as opening it for the first time would do. That keeps both cores busy for
 * seconds, so it is done once for the suite, and copied.
 */
export async function layEmbeddedDatabase(folder: string): Promise<void> {
  const first = join(inject('suiteFolder'), 'first-embedded');
  if (!existsSync(first)) {
    const made = mkdtempSync(join(inject('suiteFolder'), 'embedded-'));
    const db = await connect({ url: '', embeddedFolder: made });
    await db.destroy();
    moveUnlessThere(made, first);
  }
  cpSync(first, folder, { recursive: true });
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
