import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import type { DealAnswer } from './read-deal-answer.ts';
import type { Listing } from './read-listing.ts';
import type { NotARecord, ReadRecord } from './read-record.ts';
import { digest } from './read-record.ts';
import type { RecordKind } from './record-shapes.ts';

/** The result of requesting a deal. */
export type DealOutcome =
  | { readonly kind: 'read'; readonly answer: DealAnswer }
  /** Equal to the published version. */
  | { readonly kind: 'unchanged'; readonly answerHash: string }
  /** The service has no such deal. */
  | { readonly kind: 'not_found'; readonly problem: string }
  | { readonly kind: 'failed'; readonly problem: string };

export type AskedDeal = {
  readonly dealId: string;
  /** The time just before the request. */
  readonly fetchedAt: Date;
  readonly outcome: DealOutcome;
};

/** Stages the results of requesting deals. An older answer does not replace a newer one. */
export async function stageDeals(db: Database, runId: string, asked: readonly AskedDeal[]): Promise<void> {
  // A batch must contain each deal only once, because one statement cannot update the same row twice.
  const newest = new Map<string, AskedDeal>();
  for (const deal of asked) {
    const other = newest.get(deal.dealId);
    if (other === undefined || other.fetchedAt <= deal.fetchedAt) newest.set(deal.dealId, deal);
  }
  const deals = [...newest.values()];
  await insertStaged(db, runId, {
    records: deals.map(toRow),
    collaborations: deals.flatMap(toCollaborations),
  });
}

/** Stages a listing, and replaces the one staged before. */
export async function stageListing(
  db: Database,
  options: {
    readonly runId: string;
    readonly kind: 'brand' | 'dealflow';
    readonly listing: Listing;
    readonly fetchedAt: Date;
  },
): Promise<void> {
  const { runId, kind, listing } = options;
  const fetchedAt = options.fetchedAt.toISOString();
  await inTransaction(db, async (trx) => {
    const { rows } = await sql`
      insert into mirror.staged_listings as l (record_kind, fetched_at, run_id, is_complete, problem)
      values (${kind}, ${fetchedAt}::timestamptz, ${runId}::bigint, ${listing.problem === null}, ${listing.problem})
      on conflict (record_kind) do update
      set fetched_at = excluded.fetched_at, run_id = excluded.run_id, is_complete = excluded.is_complete, problem = excluded.problem
      where l.fetched_at <= excluded.fetched_at
      returning 1`.execute(trx);
    if (rows.length === 0) return;
    await sql`delete from mirror.staged where record_kind = ${kind}`.execute(trx);
    const staged = listing.records.map((record) => ({
      record_kind: kind,
      outcome: 'read',
      fetched_at: fetchedAt,
      ...content(record),
    }));
    await insertStaged(trx, runId, { records: staged, collaborations: [] });
  });
}

/** Stores items that are not valid records, so that nothing is lost. */
export async function keepUnreadable(
  db: Database,
  options: {
    readonly runId: string;
    readonly kind: RecordKind | 'autocomplete';
    readonly items: readonly NotARecord[];
  },
): Promise<void> {
  const { runId, kind, items } = options;
  if (items.length === 0) return;
  const rows = items.map(({ reason, raw }) => ({ record_hash: digest(JSON.stringify(raw)), raw, reason }));
  await sql`
    insert into mirror.unreadable as u (record_kind, record_hash, raw, reason, run_id)
    select distinct on (record_hash) ${kind}, record_hash, coalesce(raw, 'null'), reason, ${runId}::bigint
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as r(record_hash text, raw jsonb, reason text)
    on conflict (record_kind, record_hash) do update
    set seen_at = clock_timestamp(), run_id = excluded.run_id, reason = excluded.reason`.execute(db);
}

type StagedRow = Readonly<Record<string, unknown>>;

function toRow({ dealId, fetchedAt, outcome }: AskedDeal): StagedRow {
  const row = {
    record_kind: 'deal',
    record_id: dealId,
    outcome: outcome.kind,
    fetched_at: fetchedAt.toISOString(),
  };
  switch (outcome.kind) {
    case 'read':
      return {
        ...row,
        ...content(outcome.answer.deal),
        answer_hash: outcome.answer.answerHash,
      };
    case 'unchanged':
      return { ...row, answer_hash: outcome.answerHash };
    default:
      return { ...row, problem: outcome.problem };
  }
}

function toCollaborations({ dealId, fetchedAt, outcome }: AskedDeal): readonly StagedRow[] {
  if (outcome.kind !== 'read' || outcome.answer.collaborations === null) return [];
  const answer = { deal_id: dealId, fetched_at: fetchedAt.toISOString() };
  return outcome.answer.collaborations.map((record) => ({ ...answer, ...content(record) }));
}

function content({ id, fields, raw, rowHash, misfits }: ReadRecord): StagedRow {
  return {
    record_id: id,
    row_hash: rowHash,
    fields,
    raw,
    ...(misfits.length > 0 ? { drift: misfits } : {}),
  };
}

/**
 * Inserts deals and their collaborations in one statement, so that neither is stored without the other. In the
 * order of the key, so that two workers with the same deals wait for each other instead of deadlocking.
 */
async function insertStaged(
  db: Database,
  runId: string,
  rows: { readonly records: readonly StagedRow[]; readonly collaborations: readonly StagedRow[] },
): Promise<void> {
  if (rows.records.length === 0) return;
  await sql`
    with records as (
      insert into mirror.staged as s
        (record_kind, record_id, outcome, fetched_at, run_id, answer_hash, row_hash, fields, raw, drift, problem)
      select record_kind, record_id, outcome, fetched_at, ${runId}::bigint, answer_hash, row_hash, fields, raw, drift, problem
      from jsonb_to_recordset(${toJsonParameter(rows.records)}::jsonb) as r(
        record_kind text, record_id text, outcome text, fetched_at timestamptz, answer_hash text, row_hash text, fields jsonb,
        raw jsonb, drift jsonb, problem text)
      order by record_kind, record_id
      on conflict (record_kind, record_id) do update
      set outcome = excluded.outcome, fetched_at = excluded.fetched_at, run_id = excluded.run_id, answer_hash = excluded.answer_hash,
          row_hash = excluded.row_hash, fields = excluded.fields, raw = excluded.raw, drift = excluded.drift, problem = excluded.problem
      where s.fetched_at <= excluded.fetched_at)
    insert into mirror.staged_collaborations (collab_id, deal_id, fetched_at, row_hash, fields, raw, drift)
    select record_id, deal_id, fetched_at, row_hash, fields, raw, drift
    from jsonb_to_recordset(${toJsonParameter(rows.collaborations)}::jsonb) as c(
      record_id text, deal_id text, fetched_at timestamptz, row_hash text, fields jsonb, raw jsonb, drift jsonb)
    on conflict do nothing`.execute(db);
}
