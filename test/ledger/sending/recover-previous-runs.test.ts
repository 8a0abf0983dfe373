import { randomUUID } from 'node:crypto';
import { appendFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { ClaimedEntry, Outcome } from '../../../src/core/ledger.ts';
import { ensureLedgerId } from '../../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../../src/ledger/continuity/journal.ts';
import type { ClosedJournal } from '../../../src/ledger/continuity/mark.ts';
import { applyEvidences } from '../../../src/ledger/evidence/apply-evidence.ts';
import { bindAccount } from '../../../src/ledger/open-account.ts';
import type { OpenLedger } from '../../../src/ledger/open-ledger.ts';
import { recordAnswers } from '../../../src/ledger/record.ts';
import { recoverPreviousRuns, spoolFolder } from '../../../src/ledger/sending/recover-previous-runs.ts';
import { openSpool } from '../../../src/ledger/spool.ts';
import type { Run } from '../../../src/ops/run.ts';
import { setup } from '../../support/setup.ts';
import {
  ACCOUNT,
  creditOrder,
  endLeases,
  insertEntry,
  mustClaim,
  readFacts,
  startWorker,
} from '../entries.ts';

const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const DOUBT: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const QUIET_MINUTES = 60;

/** A run of the job, and a process before it, which writes a journal in two folders. */
async function openRuns() {
  const { db, folder } = await setup();
  await bindAccount(db, ACCOUNT);
  const ledgerId = await ensureLedgerId(db);
  const folders = [join(folder, 'journal'), join(folder, 'copy')];
  const [journals = '', copies = ''] = folders;
  const owner = randomUUID();
  const journal = openJournal({
    folder: journals,
    copyFolder: copies,
    ledgerId,
    accountId: ACCOUNT,
    owner,
    mark: null,
  });
  const worker = await startWorker(db, { journal });
  const run = (duplicateOrders: 'ignored' | 'unknown') => {
    const notes: string[] = [];
    const description = { duplicate_orders: duplicateOrders };
    const api = { description, quietPeriodMinutes: QUIET_MINUTES };
    const config = { database: { dataFolder: folder }, api };
    const progress = { note: (note: string) => void notes.push(note) };
    return {
      run: { db, job: { name: 'attribute-orders' }, config, progress, owner: randomUUID() } as unknown as Run,
      notes,
    };
  };
  const kept: ClosedJournal[] = [];
  const pruned: Date[] = [];
  const mark = {
    keep: async (closed: ClosedJournal) => void kept.push(closed),
    prune: async (now: Date) => void pruned.push(now),
  };
  const ledger = { ledgerId, mark, journalFolders: folders } as unknown as OpenLedger;
  const recover = async (duplicateOrders: 'ignored' | 'unknown' = 'unknown') => {
    const { run: one, notes } = run(duplicateOrders);
    await recoverPreviousRuns(one, ledger);
    return notes;
  };
  const claim = async (orderId: string): Promise<ClaimedEntry> =>
    mustClaim(worker, await insertEntry(db, { runId: worker.runId, orderId }));
  /** The process is killed: its leases end, and its journals stay open. */
  const kill = async () => {
    await journal.close();
    for (const place of folders)
      for (const name of readdirSync(place).filter((file) => /^[^.]+\.ndjson$/.test(file)))
        renameSync(join(place, name), join(place, `${worker.owner}.open.ndjson`));
    await endLeases(db, worker);
  };
  const states = async (entries: readonly ClaimedEntry[]) =>
    (await Promise.all(entries.map(({ entryId }) => readFacts(db, entryId)))).map(({ state }) => state);
  const spool = spoolFolder(run('unknown').run);
  return { db, worker, journal, folders, spool, kept, pruned, recover, claim, kill, states };
}

it('where nothing was left behind, nothing is said', async () => {
  const { recover, pruned } = await openRuns();
  expect(await recover('ignored')).toEqual([]);
  expect(pruned).toHaveLength(1);
});

it('what is known of the requests of a killed process settles them; the others are in doubt, and each is said', async () => {
  const { db, worker, journal, folders, spool, kept, recover, claim, kill, states } = await openRuns();
  const [spooled, answered, unsent] = [
    await claim('spooled'),
    await claim('answered'),
    await claim('unsent'),
  ];
  const [told, unknown] = [await claim('told'), await claim('unknown')];
  for (const entry of [spooled, answered, told, unknown]) await journal.writing(entry);
  journal.answered(answered, ACCEPTED);
  const answers = openSpool(spool, worker.owner);
  const { entryId, attempt, claim: spooledClaim } = spooled;
  answers.append({ entryId, attempt, claim: spooledClaim, outcome: ACCEPTED, backoffMs: 0 });
  const lost = { ...spooledClaim, claimId: randomUUID(), claimNo: '99' };
  answers.append({ entryId, attempt, claim: lost, outcome: ACCEPTED, backoffMs: 0 });
  appendFileSync(join(spool, `${worker.owner}.ndjson`), 'unusable\n');
  await db
    .transaction()
    .execute((trx) =>
      applyEvidences(trx, [
        {
          isCredit: true,
          isLegible: true,
          orderId: 'told',
          orderPlatform: 'shopify',
          dealId: 'D1',
          collabId: null,
          amount: null,
          currency: null,
          bodySha256: 'a',
        },
      ]),
    );
  await kill();
  for (const place of folders) writeFileSync(join(place, `${randomUUID()}.open.ndjson`), 'no head\n');
  expect(await recover()).toEqual([
    'Recorded 2 answers from the spool of an earlier run.',
    '1 of them belongs to claims that the database lost. Their orders have the state that these answers state, and are not sent again.',
    `1 unusable line of the spool: set aside in ${join(spool, 'unreadable')}. The doubts that they would have settled remain.`,
    'Recorded 1 answer from the journal of an earlier run.',
    '1 order is ready again: the journal of an earlier run shows that no request for it started.',
    expect.stringMatching(
      /^The journal [0-9a-f-]{36}\.open\.ndjson is damaged or lost lines, so it does not show which requests never started\./,
    ),
    '2 orders are now in doubt: the process that sent them is gone.',
    'Events of the service settled 1 order in doubt.',
  ]);
  expect(await states([spooled, answered, unsent, told, unknown])).toEqual([
    ...['accepted', 'accepted', 'ready', 'accepted', 'in_doubt'],
  ]);
  expect(
    kept.map(({ owner }) => owner),
    'the mark keeps the journal once',
  ).toHaveLength(1);
  const open = folders.map(
    (place) => readdirSync(place).filter((name) => name.endsWith('.open.ndjson')).length,
  );
  expect(open, 'the copies are closed too').toEqual([1, 1]);
});

it('a doubt is sent again only after the quiet period, and only if the service is declared to ignore the second', async () => {
  const { db, recover, claim, states } = await openRuns();
  const [old, fresh] = [await claim('old'), await claim('fresh')];
  for (const { entryId, attempt } of [old, fresh]) {
    await recordAnswers(db, [{ entryId, attempt, outcome: DOUBT, backoffMs: 0 }], 'direct');
    await creditOrder(db, entryId);
  }
  const age = (entryId: string, minutes: number) =>
    sql`
      update ledger.entries set state_changed_at = now() - ${minutes} * interval '1 minute'
      where entry_id = ${entryId}::bigint`.execute(db);
  await age(old.entryId, QUIET_MINUTES + 1);
  await age(fresh.entryId, QUIET_MINUTES - 1);
  expect(await recover('unknown')).toEqual([]);
  expect(await states([old, fresh])).toEqual(['in_doubt', 'in_doubt']);
  expect(await recover('ignored')).toEqual([
    '1 order in doubt is sent again after the quiet period (service.duplicate_orders: ignored).',
  ]);
  expect(await states([old, fresh])).toEqual(['ready', 'in_doubt']);
});

it('what the service refused for its API key is ready again, because the key is accepted now', async () => {
  const { db, recover, claim, states } = await openRuns();
  const refused = await claim('refused');
  const { entryId, attempt } = refused;
  const outcome = { kind: 'rejected', httpStatus: 401, message: 'bad key', stopsGate: true } as const;
  await recordAnswers(db, [{ entryId, attempt, outcome, backoffMs: 0 }], 'direct');
  await creditOrder(db, entryId);
  expect(await recover()).toEqual([]);
  expect(await states([refused])).toEqual(['ready']);
});
