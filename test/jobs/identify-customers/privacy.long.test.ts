import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/db/connect.ts';
import { readRun } from '../../runs/workshop.ts';
import { layEmbeddedDatabase } from '../../support/embedded-database.ts';
import type { CliResult } from '../../support/run-cli.ts';
import { type FakeServiceOptions, startFakeService } from './fake-service.ts';
import { openCustomers } from './story.ts';

/** Occurs in every address, name and phone number of the exports here, and nowhere else. */
const PRIVATE = /findme/i;

/** One customer for each outcome. The service quotes the customers that it answers about. */
const EXPORT = `email,unsubscribed,consent
findme-1@findme.example,,
FindMe-2@FINDME.example,,
findme-no@findme.example,,no
findme-out@findme.example,yes,
findme at findme.example,,
findme-4@findme,,
"findme-5@findme.example, findme-6@findme.example",,
findme-7@findme.example,,
findme-refused@findme.example,,
`;

const QUOTING: FakeServiceOptions = {
  onBatch: (addresses) => {
    const bad = addresses.find((address) => address.includes('refused'));
    const [name] = (bad ?? '').split('@');
    if (bad === undefined) return { status: 200, body: `{"message":"${addresses.join()} queued"}` };
    return {
      status: 422,
      body: JSON.stringify({ message: `"${name}" (${bad}, ${encodeURIComponent(bad)}) no` }),
    };
  },
  onLookup: (address) =>
    address.includes('-1')
      ? { status: 200, body: JSON.stringify({ is_influencer: true, username: address, fullname: 'Findme' }) }
      : address.includes('-7')
        ? { status: 400, body: JSON.stringify({ error: `${address.split('@')[0]} is not known` }) }
        : { status: 200, body: JSON.stringify({ is_influencer: false, asked: address }) },
};

/** Returns every row of every table as text. */
async function dumpRows(db: Database): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('information_schema', 'pg_catalog')`.execute(db);
  const dump: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.raw(name)} t`.execute(db);
    dump[name] = rows.map(({ row }) => row).join('\n');
  }
  return dump;
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('exports'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

describe('plain e-mail addresses', () => {
  it('are in no table, no output, no log and no file after a run', async () => {
    const service = await startFakeService(QUOTING);
    const shop = await openCustomers({
      serviceUrl: service.url,
      job: 'lookup: real_time',
      env: { LOG_LEVEL: 'trace' },
    });
    shop.drop('1.csv', EXPORT);
    // A separate process, so that the test also captures anything that a package prints by itself.
    const run = readRun(await shop.startIdentifying().ended);
    expect(run.stderr).toContain('"msg":"run finished"');
    expect(run.finished?.counts).toMatchObject({
      rows: 9,
      rejected_rows: 3,
      submitted: 3,
      refused: 1,
      // One refused, and one unsubscribed.
      unsubscribed: 2,
    });
    const outputs: CliResult[] = [run];
    for (const command of [
      ['run', 'customers'],
      ['plan', 'customers'],
      ['rejected'],
      ['runs'],
      ['status'],
    ] as const)
      outputs.push(await shop.cli(...command));
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(PRIVATE);
    const dump = await dumpRows(shop.db);
    expect(Object.keys(dump).length).toBeGreaterThan(20);
    expect(Object.entries(dump).filter(([, rows]) => PRIVATE.test(rows))).toEqual([]);
    expect(filesUnder(shop.folder).filter((path) => PRIVATE.test(readFileSync(path, 'latin1')))).toEqual([]);
  });

  it('are not in a pg_dump of the embedded database', async () => {
    const service = await startFakeService(QUOTING);
    const shop = await openCustomers({ embedded: true, serviceUrl: service.url, job: 'lookup: real_time' });
    await layEmbeddedDatabase(join(shop.folder, '.data'), 'migrated');
    shop.drop('1.csv', EXPORT);
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 3 });
    const pglite = await PGlite.create({ dataDir: join(shop.folder, '.data', 'postgres') });
    const dump = await (await pgDump({ pg: pglite })).text();
    await pglite.close();
    expect(dump).toContain('INSERT INTO intake.customers ');
    expect(dump).not.toMatch(PRIVATE);
  });

  it('are in a single table while they wait for an unavailable service', async () => {
    const service = await startFakeService({ onBatch: () => ({ status: 401, body: '{"message":"no"}' }) });
    const shop = await openCustomers({ serviceUrl: service.url });
    shop.drop('1.csv', EXPORT);
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 0, waiting: 4 });
    const found = Object.entries(await dumpRows(shop.db)).filter(([, rows]) => PRIVATE.test(rows));
    expect(found.map(([name]) => name)).toEqual(['intake.waiting_batches']);
  });
});
