import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { setup } from '../support/setup.ts';

const FOLDER = new URL('../../sql/runbook/', import.meta.url);

test('every query of the runbook can be run unchanged', async () => {
  const { db } = await setup();
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    expect(text.startsWith('-- ')).toBe(true);
    // Replaces the variables as psql does after \set.
    const statements = text.replaceAll(/:'\w+'/g, "'1001'").split(/;\s*$/m);
    for (const statement of statements.filter((one) => one.trim() !== '')) {
      expect((await sql.raw(statement).execute(db)).rows).toEqual([]);
    }
  }
});
