import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { PipelineConfig } from '../../src/config/schema.ts';
import { compare } from '../../src/ledger/continuity/compare-ledger.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../src/ledger/continuity/journal.ts';
import {
  beginRecord,
  describeBlindness,
  describeJournals,
  ownJournalFolders,
} from '../../src/ledger/continuity/journal-places.ts';
import { makeTestFolder, setup } from '../support/setup.ts';
import { ACCOUNT, insertEntry, mustClaim, startWorker } from './entries.ts';

function configOf(
  folder: string,
  { apiUrl = 'https://api.example.com', stateFolder = join(folder, 'state') } = {},
): PipelineConfig {
  return {
    api: { url: apiUrl },
    database: { url: '', dataFolder: join(folder, '.data') },
    ledger: { mark: null, stateFolder },
  } as PipelineConfig;
}

/** An embedded ledger that has posted an order. Its tables are in the suite's server, which costs less. */
async function openPosted() {
  const { db, folder } = await setup();
  const config = configOf(folder);
  const ledgerId = await ensureLedgerId(db);
  const places = ownJournalFolders(config, ledgerId);
  expect(beginRecord(config, places.copyFolder ?? '')).toBe(join(folder, 'state', 'ledgers', ledgerId));
  const journal = openJournal({ ...places, ledgerId, accountId: ACCOUNT, owner: randomUUID(), mark: null });
  const worker = await startWorker(db, { journal });
  const entry = await mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId: '1' }));
  await journal.writing(entry);
  await journal.close();
  const kindOf = async (given = config) =>
    (await compare(db, { config: given, accountId: ACCOUNT })).continuity;
  return { db, folder, config, ledgerId, places, kindOf };
}

it('messages name the folder of the journals or the mark, and the folder outside of the data folder if there is one', () => {
  const folder = makeTestFolder();
  const config = configOf(folder, { stateFolder: '' });
  const local = join(folder, '.data', 'journal');
  const mark = { uri: 's3://mark/' };
  const of = (ledger: object) => describeJournals({ ...config, ledger } as PipelineConfig);
  expect(of({ mark: null, stateFolder: '' })).toBe(local);
  expect(of({ mark: null, stateFolder: null })).toBe(local);
  expect(of({ mark, stateFolder: null })).toBe('s3://mark/');
  expect(of({ mark: null, stateFolder: '/state' })).toBe(`${local} and /state`);
});

it('an embedded ledger keeps the same journal in the data folder and outside of it, closed under the same name', async () => {
  const { places, kindOf } = await openPosted();
  const { folder, copyFolder } = places;
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.ndjson'));
  expect(readFileSync(join(copyFolder ?? '', name), 'utf8')).toBe(readFileSync(join(folder, name), 'utf8'));
  expect(await kindOf()).toMatchObject({ kind: 'continuous' });
});

it('an older copy of the data folder lacks claims that the journal outside of it has, wherever the folder is now', async () => {
  const { db, folder, places, kindOf } = await openPosted();
  rmSync(places.folder, { recursive: true });
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts`.execute(trx);
  });
  const moved = configOf(folder);
  for (const config of [moved, { ...moved, database: { ...moved.database, dataFolder: '/elsewhere' } }])
    expect(await kindOf(config)).toMatchObject({
      kind: 'went_back',
      isOther: false,
      missing: { entries: 1 },
    });
});

it('a new ledger in the data folder of another one is refused, unless the service is a sandbox, which is started over so', async () => {
  const { db, folder, places, ledgerId, kindOf } = await openPosted();
  rmSync(places.folder, { recursive: true });
  mkdirSync(join(folder, 'state', 'ledgers', randomUUID()));
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`delete from ledger.attempts`.execute(trx);
    await sql`delete from ledger.identity`.execute(trx);
  });
  for (const create of [async () => {}, () => ensureLedgerId(db)]) {
    await create();
    expect(await kindOf()).toMatchObject({ kind: 'went_back', isOther: true, markedLedgerId: ledgerId });
    expect(await kindOf(configOf(folder, { apiUrl: 'http://127.0.0.1:4010' }))).toMatchObject({
      kind: 'unmarked',
    });
  }
  const elsewhere = configOf(folder);
  expect(
    await kindOf({ ...elsewhere, database: { ...elsewhere.database, dataFolder: '/elsewhere' } }),
  ).toMatchObject({ kind: 'unmarked' });
  // What was posted to a sandbox alone is no reason to refuse the first ledger of the real service.
  beginRecord(configOf(folder, { apiUrl: 'http://127.0.0.1:4010' }), places.copyFolder ?? '');
  expect(await kindOf()).toMatchObject({ kind: 'unmarked' });
});

it('what no run can see is stated: without a home, in the data folder, where nothing can be written, or if nothing is recorded yet', () => {
  const folder = makeTestFolder();
  writeFileSync(join(folder, 'file'), '');
  const ledgerId = randomUUID();
  const describe = (stateFolder: string | null, hasClaims = true) => {
    const config = configOf(folder);
    return describeBlindness({ ...config, ledger: { mark: null, stateFolder } }, { ledgerId, hasClaims });
  };
  expect(describe('')).toContain('(this user has no home folder)');
  expect(describe(join(folder, '.data', 'state'))).toContain('(it is in the data folder)');
  expect(describe(join(folder, 'file'))).toContain('(it cannot be written, ENOTDIR)');
  expect(describe(join(folder, 'state'))).toContain(`there is no record of the ledger in ${folder}/state`);
  expect(describe(join(folder, 'state'), false)).toBeNull();
  expect(describe(null)).toBeNull();
  const unusable = configOf(folder, { stateFolder: join(folder, 'file') });
  expect(ownJournalFolders(unusable, ledgerId).copyFolder).toBeNull();
  expect(beginRecord(unusable, join(folder, 'file', 'x'))).toBeNull();
});
