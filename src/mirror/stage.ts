import { sql } from 'kysely';
import { toArrayParameter, toJsonArrayParameter, toTextArrayParameter } from '../db/array-parameters.ts';
import { readDatabaseClock } from '../db/clock.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { type Database, execute, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { DealAnswer } from './read-deal-answer.ts';
import { digest, type NotARecord, type ReadRecord } from './read-record.ts';
import type { Listing } from './read-records.ts';
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
    const rows = await rowsOf(trx)`
      insert into mirror.staged_listings as l (record_kind, fetched_at, run_id, is_complete, problem)
      values (${kind}, ${fetchedAt}::timestamptz, ${runId}::bigint, ${listing.problem === null},
        ${listing.problem})
      on conflict (record_kind) do update
      set fetched_at = excluded.fetched_at, run_id = excluded.run_id, is_complete = excluded.is_complete,
        problem = excluded.problem
      where l.fetched_at <= excluded.fetched_at
      returning 1`;
    if (rows.length === 0) return;
    await trx.deleteFrom('mirror.staged').where('record_kind', '=', kind).execute();
    const staged = listing.records.map(
      (record): StagedRow => ({
        kind,
        id: record.id,
        outcome: 'read',
        fetchedAt: options.fetchedAt,
        record,
        answerHash: null,
        problem: null,
      }),
    );
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
  await execute(db)`
    insert into mirror.unreadable as u (record_kind, record_hash, raw, reason, run_id)
    select distinct on (record_hash) ${kind}, record_hash, coalesce(raw, 'null'), reason, ${runId}::bigint
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb) as r(record_hash text, raw jsonb, reason text)
    on conflict (record_kind, record_hash) do update
    set seen_at = clock_timestamp(), run_id = excluded.run_id, reason = excluded.reason`;
}

type StagedRow = {
  readonly kind: string;
  readonly id: string;
  readonly outcome: DealOutcome['kind'];
  readonly fetchedAt: Date;
  readonly record: ReadRecord | null;
  readonly answerHash: string | null;
  readonly problem: string | null;
};

/** A row of mirror.staged_collaborations. */
type StagedCollaboration = { readonly dealId: string; readonly fetchedAt: Date; readonly record: ReadRecord };

function toRow({ dealId, fetchedAt, outcome }: AskedDeal): StagedRow {
  const row = { kind: 'deal', id: dealId, outcome: outcome.kind, fetchedAt };
  switch (outcome.kind) {
    case 'read': {
      const { deal, answerHash } = outcome.answer;
      return { ...row, id: deal.id, record: deal, answerHash, problem: null };
    }
    case 'unchanged':
      return { ...row, record: null, answerHash: outcome.answerHash, problem: null };
    default:
      return { ...row, record: null, answerHash: null, problem: outcome.problem };
  }
}

function toCollaborations({ dealId, fetchedAt, outcome }: AskedDeal): readonly StagedCollaboration[] {
  if (outcome.kind !== 'read' || outcome.answer.collaborations === null) return [];
  return outcome.answer.collaborations.map((record) => ({ dealId, fetchedAt, record }));
}

/**
 * Inserts deals and their collaborations in one statement, so that neither is stored without the other. In the
 * order of the key, so that two workers with the same deals wait for each other instead of deadlocking.
 */
async function insertStaged(
  db: Database,
  runId: string,
  rows: { readonly records: readonly StagedRow[]; readonly collaborations: readonly StagedCollaboration[] },
): Promise<void> {
  const { records, collaborations } = rows;
  if (records.length === 0) return;
  await execute(db)`
    with records as (
      insert into mirror.staged as s
        (record_kind, record_id, outcome, fetched_at, run_id, answer_hash, problem, row_hash, fields, raw,
          drift)
      select record_kind, record_id, outcome, to_timestamp(fetched_ms / 1000), ${runId}::bigint, answer_hash,
        problem, row_hash, fields, raw, drift
      from unnest(
        ${texts(records, ({ kind }) => kind)}::text[], ${texts(records, ({ id }) => id)}::text[],
        ${texts(records, ({ outcome }) => outcome)}::text[], ${times(records)}::float8[],
        ${texts(records, ({ answerHash }) => answerHash)}::text[],
        ${texts(records, ({ problem }) => problem)}::text[], ${content(records)}
      ) as r(record_kind, record_id, outcome, fetched_ms, answer_hash, problem, row_hash, fields, raw, drift)
      order by record_kind, record_id
      on conflict (record_kind, record_id) do update
      set outcome = excluded.outcome, fetched_at = excluded.fetched_at, run_id = excluded.run_id,
        answer_hash = excluded.answer_hash,
          row_hash = excluded.row_hash, fields = excluded.fields, raw = excluded.raw, drift = excluded.drift,
          problem = excluded.problem
      where s.fetched_at <= excluded.fetched_at)
    insert into mirror.staged_collaborations (collab_id, deal_id, fetched_at, row_hash, fields, raw, drift)
    select collab_id, deal_id, to_timestamp(fetched_ms / 1000), row_hash, fields, raw, drift
    from unnest(
      ${texts(collaborations, ({ record }) => record.id)}::text[],
      ${texts(collaborations, ({ dealId }) => dealId)}::text[],
      ${times(collaborations)}::float8[], ${content(collaborations)}
    ) as c(collab_id, deal_id, fetched_ms, row_hash, fields, raw, drift)
    on conflict do nothing`;
}

/**
 * A column of rows as a parameter. Postgres reads whole columns much faster than rows in JSON, and the text of
 * a record is written only once, for its digest.
 */
function texts<Row>(rows: readonly Row[], read: (row: Row) => string | null): string | null {
  return toTextArrayParameter(rows.map(read));
}

/** Times in milliseconds, which are written and read faster than dates. `to_timestamp` rounds to the microsecond. */
function times(rows: readonly { readonly fetchedAt: Date }[]): string | null {
  return toArrayParameter(rows.map(({ fetchedAt }) => fetchedAt.getTime()));
}

/** SQL for the columns row_hash, fields, raw and drift, which are null if no record was read. */
function content(rows: readonly { readonly record: ReadRecord | null }[]) {
  const json = (read: (record: ReadRecord) => string | null) =>
    toJsonArrayParameter(rows.map(({ record }) => record && read(record)));
  return sql`
    ${texts(rows, ({ record }) => record?.rowHash ?? null)}::text[],
    ${json(({ fields }) => toJsonParameter(fields))}::jsonb[], ${json(({ raw }) => raw)}::jsonb[],
    ${json(({ misfits }) => (misfits.length === 0 ? null : toJsonParameter(misfits)))}::jsonb[]`;
}

/**
 * Returns a clock that follows the clock of the database, so that instants of different machines can be
 * compared. It is never ahead of the database clock, so an instant taken before a request is always before
 * the answer.
 */
export async function openDatabaseClock(db: Database): Promise<() => Date> {
  const at = await readDatabaseClock(db);
  const readAt = performance.now();
  return () => new Date(at.getTime() + performance.now() - readAt);
}
