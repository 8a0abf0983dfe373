import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { PipelineConfig } from '../../src/config/schema.ts';
import type { Exchange } from '../../src/core/http/exchange.ts';
import { KnownError } from '../../src/core/known-error.ts';
import type { Database } from '../../src/db/connect.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { Client } from '../../src/service/client.ts';
import { setup } from '../support/setup.ts';
import { ACCOUNT, insertEntry, startWorker } from './entries.ts';

const URL = 'https://api.example.com';
const answer = (status: number, text: string): Exchange => ({ kind: 'answer', status, text, headers: {} });
const HELLO = answer(200, JSON.stringify({ message: `You are logged in - ${ACCOUNT} - U1` }));

async function openHere() {
  const { db, folder } = await setup();
  const config = {
    api: { url: URL },
    database: { url: '', dataFolder: join(folder, '.data') },
    ledger: { mark: null, stateFolder: join(folder, 'state') },
  } as PipelineConfig;
  const notes: string[] = [];
  const targets: unknown[] = [];
  /** A run begins, and the service answers so. */
  const open = (exchange = HELLO, options = {}, given: Partial<PipelineConfig> = {}) =>
    openLedger(
      {
        db,
        config: { ...config, ...given } as PipelineConfig,
        owner: randomUUID(),
        progress: { note: (note) => void notes.push(note) },
        options,
        onTarget: (target) => void targets.push(target),
      },
      { exchange: async () => exchange } as unknown as Client,
    );
  return { db, folder, config, notes, targets, open };
}

/** An error as a person sees it. */
async function errorOf(failing: Promise<unknown>) {
  const error = await failing.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KnownError)) throw error;
  return { ...error.details, message: error.message };
}

/** Posts one order through a ledger, as a run does. */
async function post(db: Database, ledger: Awaited<ReturnType<typeof openLedger>>) {
  const journal = await ledger.openJournal();
  const worker = await startWorker(db, { journal });
  const entry = await worker.claim(await insertEntry(db, { runId: worker.runId, orderId: randomUUID() }));
  await journal.close();
  return entry;
}

it('is bound to the account of the key on first use, and says where it is; its next claim names the newest one', async () => {
  const { db, folder, notes, targets, open } = await openHere();
  const ledger = await open();
  const { ledgerId, accountId, place } = ledger;
  const { rows } = await sql<{
    now: string;
  }>`select ledger_id, place, ledger.place() as now, (select account_id from ops.account) as account from ledger.identity`.execute(
    db,
  );
  expect(rows).toEqual([
    { ledger_id: ledgerId, place: expect.anything(), now: expect.anything(), account: ACCOUNT },
  ]);
  expect([accountId, ledger.heads(), ledger.mark, place]).toEqual([ACCOUNT, [], null, null]);
  expect(ledger.journalFolders).toEqual([
    join(folder, '.data', 'journal'),
    join(folder, 'state', 'ledgers', ledgerId),
  ]);
  expect(targets).toEqual([
    { service: URL, accountId: ACCOUNT, ledger: expect.stringContaining(`(${ledgerId.slice(0, 8)})`) },
  ]);
  const entry = await post(db, ledger);
  expect(ledger.heads()).toMatchObject([{ entryId: entry?.entryId }]);
  const next = await open();
  // Both of its journals name it.
  expect(next.heads()).toMatchObject(Array(2).fill({ entryId: entry?.entryId }));
  expect(next.place).toBe(rows[0]?.now);
  expect(notes).toEqual([]);
  const { rows: machines } = await sql`select count(*)::integer as machines from ledger.machines`.execute(db);
  expect(machines).toEqual([{ machines: 1 }]);
});

it('is not opened if the service refuses the key, cannot be reached, or names no account, or if it belongs to another one', async () => {
  const { db, open } = await openHere();
  const failed = { where: URL, safe: 'No order was sent.' };
  const CHECK =
    'Check api.url (INFLUENCER_API_URL), the network, and whether the service is up. Then run the command again.';
  expect(await errorOf(open(answer(401, '{"error":"no such key"}')))).toEqual({
    ...failed,
    code: 'key_refused',
    exitCode: 4,
    message: 'The service refused the API key: no such key',
    help: 'Compare api.key (INFLUENCER_API_KEY) with the API integration page of the service.',
  });
  const unavailable = { ...failed, code: 'service_unavailable', exitCode: 1, help: CHECK };
  expect(await errorOf(open({ kind: 'failure', written: false, reason: 'connection refused' }))).toEqual({
    ...unavailable,
    message: 'The service cannot be reached: connection refused.',
  });
  expect(await errorOf(open(answer(200, '{"message":"Welcome"}')))).toEqual({
    ...unavailable,
    message:
      'The answer of the service is not as expected: account_hello: HTTP 200: the answer does not say to which account the key belongs',
  });
  const { rows } = await sql`select from ledger.identity`.execute(db);
  expect(rows, 'nothing was changed').toEqual([]);
  await open();
  expect(await errorOf(open(answer(200, '{"message":"You are logged in - A2 - U1"}')))).toEqual({
    code: 'wrong_account',
    exitCode: 4,
    safe: 'Nothing was sent.',
    message: `This ledger belongs to account ${ACCOUNT}, but the key belongs to account A2.`,
    help: `Use a key of account ${ACCOUNT} (api.key), or another database (database.url) for account A2.`,
  });
});

it('says what it cannot see: without a journal here, and without a record outside the data folder', async () => {
  const { db, folder, config, notes, open } = await openHere();
  const none = { ledger: { mark: null, stateFolder: null } } as Partial<PipelineConfig>;
  const ledger = await open(HELLO, {}, none);
  expect(notes, 'nothing was posted').toEqual([]);
  await post(db, ledger);
  await open(HELLO, {}, none);
  expect(notes, 'its journal is here').toEqual([]);
  await open();
  expect(notes.splice(0)).toEqual([
    expect.stringContaining(`there is no record of the ledger in ${folder}/state`),
  ]);
  rmSync(join(config.database.dataFolder, 'journal'), { recursive: true });
  await open(HELLO, {}, none);
  expect(notes.splice(0)).toEqual([
    `This machine has no journal of ledger ${ledger.ledgerId.slice(0, 8)}, so this run cannot detect a restored database. Later runs can, as long as you keep ${folder}/.data/journal.`,
  ]);
});

it('is begun anew only if another ledger has posted from here, and a person says so, which the audit keeps', async () => {
  const { db, notes, open } = await openHere();
  await post(db, await open());
  const newLedger = { newLedger: { decidedBy: 'ada', reason: 'a new shop' } };
  const audit = async () => {
    const { rows } = await sql`
      select actor, via, action, subject_kind, subject, summary, reason, before, after from ops.audit`.execute(
      db,
    );
    return rows;
  };
  await open(HELLO, newLedger);
  expect([notes, await audit()], 'it is the same ledger').toEqual([[], []]);
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    for (const table of ['ledger.attempts', 'ledger.identity', 'ops.account'])
      await sql`delete from ${sql.table(table)}`.execute(trx);
  });
  expect((await errorOf(open())).code).toBe('ledger_swapped');
  await open(HELLO, newLedger);
  expect(notes).toEqual(['This run starts a new ledger. 1 claim of another ledger does not count in it.']);
  expect(await audit()).toEqual([
    {
      actor: 'ada',
      via: 'command',
      action: 'begin_new_ledger',
      subject_kind: 'ledger',
      subject: ACCOUNT,
      reason: 'a new shop',
      summary: 'Began a new ledger: claims of another one do not count in it.',
      before: null,
      after: { disregarded_claims: 1 },
    },
  ]);
  await open();
});
