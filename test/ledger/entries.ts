import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ClaimedEntry, EntryState } from '../../src/core/ledger.ts';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import type { ClaimEntry } from '../../src/ledger/claim.ts';
import { createClaimerAndRecorder } from '../../src/ledger/claim-and-record.ts';
import { ensureLedgerId } from '../../src/ledger/continuity/identity.ts';
import type { Journal } from '../../src/ledger/continuity/journal.ts';
import type { ClaimedAttempt } from '../../src/ledger/continuity/journal-lines.ts';
import { createDesiredEntries, type Proposed, propose } from '../../src/ledger/propose.ts';
import type { RecordAnswer } from '../../src/ledger/record.ts';
import { acquireLease } from '../../src/ops/lease.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { setup } from '../support/setup.ts';
import { type EntryFacts, SITUATIONS } from './states.ts';

export const ACCOUNT = 'A1';
const JOB = 'attribute-orders';

/** A process as the ledger sees it: an owner with a lease, a run, and a way to claim and to record. */
export type Worker = {
  readonly owner: string;
  readonly runId: string;
  readonly claim: ClaimEntry;
  readonly record: RecordAnswer;
};

export async function startWorker(
  db: Database,
  options: {
    ttlMs?: number;
    accountId?: string;
    name?: string;
    backfillId?: string;
    heads?: readonly ClaimedAttempt[];
    /** By default nothing is noted in a journal. */
    journal?: Pick<Journal, 'claimed'>;
    /** Where the database must be. By default its server does not report it. */
    place?: string;
  } = {},
): Promise<Worker> {
  const owner = randomUUID();
  const name = options.name ?? `job:${owner}`;
  await acquireLease(db, { name, owner, host: 'test', pid: 1, ttlMs: options.ttlMs ?? 60_000 });
  const runId = await beginRun(db, { job: JOB, kind: JOB });
  return {
    owner,
    runId,
    ...createClaimerAndRecorder(db, {
      owner,
      runId,
      accountId: options.accountId ?? ACCOUNT,
      backfillId: options.backfillId ?? null,
      ledgerId: await ensureLedgerId(db),
      heads: options.heads ?? [],
      place: options.place ?? null,
      journal: options.journal ?? { claimed: async () => {} },
    }),
  };
}

/** Expires the worker's leases by the database's clock, as after a kill or a long pause. */
export async function endLeases(db: Database, worker: Worker): Promise<void> {
  await db
    .updateTable('ops.leases')
    .set({ expires_at: new Date(0) })
    .where('owner', '=', worker.owner)
    .execute();
}

/** @returns the id of the new entry. */
export async function insertEntry(
  db: Database,
  options: {
    runId: string;
    orderId: string;
    amount?: string;
    accountId?: string;
    state?: EntryState;
    reason?: string;
  },
): Promise<string> {
  const amount = options.amount ?? '10.00';
  const body = `{"influencer_handle":"mia.test","order_id":"${options.orderId}","order_revenue":${amount},"order_platform":"shopify","currency":"EUR"}`;
  const entry = await db
    .insertInto('ledger.entries')
    .values({
      effect: 'referral',
      account_id: options.accountId ?? ACCOUNT,
      key: JSON.stringify(['shopify', options.orderId]),
      state: options.state ?? 'ready',
      state_reason: options.reason ?? null,
      body,
      body_hash: body,
      job: JOB,
      order_platform: 'shopify',
      order_id: options.orderId,
      amount,
      currency: 'EUR',
      run_id: options.runId,
    })
    .returning('entry_id')
    .executeTakeFirstOrThrow();
  return entry.entry_id;
}

/** Decides that the order of an entry is credited. */
export async function creditOrder(db: Database, entryId: string): Promise<void> {
  await sql`
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, target,
      currency, entry_id, is_pending, rules_hash)
    values (${JOB}, 'shop', ${entryId}, 1, 'attributed', 'code', 'deal:D1', 'EUR', ${entryId}::bigint, false,
      'rules')`.execute(db);
}

/** Inserts an entry in a situation of `SITUATIONS`, with all that an entry may know then. @returns its id. */
export async function insertSituation(
  db: Database,
  {
    runId,
    orderId,
    situation,
  }: { readonly runId: string; readonly orderId: string; readonly situation: string },
): Promise<string> {
  const entryId = await insertEntry(db, { runId, orderId });
  await sql`
    update ledger.entries set state_reason = 'before', deal_id = 'D0', collab_id = 'C0', attempt = 2,
      not_before = '2026-01-02', ${sql.raw(SITUATIONS[situation] ?? '')}
    where entry_id = ${entryId}::bigint`.execute(db);
  return entryId;
}

/** A database with a process and a referral of it that is ready. */
export async function setupEntry() {
  const { db, folder } = await setup();
  const worker = await startWorker(db);
  return { db, folder, worker, entryId: await insertEntry(db, { runId: worker.runId, orderId: '1' }) };
}

export async function mustClaim(worker: Worker, entryId: string): Promise<ClaimedEntry> {
  const entry = await worker.claim(entryId);
  if (entry === null) throw new Error(`entry ${entryId} could not be claimed`);
  return entry;
}

export async function readFacts(db: Database, entryId: string): Promise<EntryFacts> {
  const row = await db
    .selectFrom('ledger.entries')
    .select(['state', 'attempt', 'doubtful_attempt', 'not_sent', 'resends_approved'])
    .where('entry_id', '=', entryId)
    .executeTakeFirstOrThrow();
  return factsOf(row);
}

export function factsOf(row: {
  readonly state: string;
  readonly attempt: number;
  readonly doubtful_attempt: number | null;
  readonly not_sent: number;
  readonly resends_approved: number;
}): EntryFacts {
  return {
    state: row.state as EntryState,
    attempt: row.attempt,
    doubtfulAttempt: row.doubtful_attempt,
    notSent: row.not_sent,
    resendsApproved: row.resends_approved,
  };
}

const LONG_AGO = new Date('2026-01-01T00:00Z');

/** Lets every entry look as if it had last changed long ago, so that `changedEntries` lists those that change later. */
export async function ageEntries(db: Database): Promise<void> {
  await db.updateTable('ledger.entries').set({ state_changed_at: LONG_AGO }).execute();
}

/** @returns the ids of the entries that state a change since `ageEntries`, the oldest entry first. */
export async function changedEntries(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ledger.entries')
    .select('entry_id')
    .where('state_changed_at', '>', LONG_AGO)
    .orderBy('entry_id')
    .execute();
  return rows.map(({ entry_id }) => entry_id);
}

/**
 * Proposes another body for an entry, or none, as the deciding code does.
 *
 * @param options.body also the body's hash. Null: the entry is no longer desired.
 */
export function proposeBody(
  db: Database,
  options: {
    readonly runId: string;
    readonly entryId: string;
    readonly body: string | null;
    /** By default the entry's own, as the currency. */
    readonly amount?: string;
    readonly currency?: string;
    /** The source that states it now; by default none. */
    readonly source?: string;
    readonly sourcesOfJob?: readonly string[];
    readonly job?: string;
    readonly brandId?: string;
    readonly details?: object;
    readonly versionId?: string;
    readonly undesiredAs?: string;
    readonly undesiredBecause?: string;
    readonly loweredAs?: string;
  },
): Promise<Proposed> {
  const { runId, entryId, body, amount = null, currency = null, source = null } = options;
  const { sourcesOfJob = [], job = JOB, brandId = null, details = null, versionId = null } = options;
  const { undesiredAs = 'excluded', undesiredBecause = 'test', loweredAs = null } = options;
  return inTransaction(db, async (trx) => {
    await createDesiredEntries(trx);
    await sql`
      insert into desired_entries (key, body, body_hash, source, amount, currency, order_platform, order_id, brand_id, details, version_id,
        undesired_as, undesired_because, lowered_as)
      select key, ${body}::text, ${body}::text, ${source}::text, coalesce(${amount}::numeric, amount), coalesce(${currency}::text, currency),
        order_platform, order_id, ${brandId}::text, ${details === null ? null : JSON.stringify(details)}::jsonb, ${versionId}::bigint,
        ${undesiredAs}::text, ${undesiredBecause}::text, ${loweredAs}::text
      from ledger.entries where entry_id = ${entryId}::bigint`.execute(trx);
    return propose(trx, { effect: 'referral', job, runId, accountId: ACCOUNT, sourcesOfJob });
  });
}
