import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';

const FOLDER = new URL('../../sql/migrations/', import.meta.url);

/**
 * Applies some of the migrations, in order, so that a test can fill the tables in the state before a certain
 * migration.
 */
export async function migrateBy(db: Database, isWanted: (file: string) => boolean): Promise<void> {
  for (const file of (await readdir(FOLDER)).sort().filter(isWanted)) {
    const statements = await readFile(new URL(file, FOLDER), 'utf8');
    await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(db);
  }
}
