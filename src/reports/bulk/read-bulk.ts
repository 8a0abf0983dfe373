import { sql } from 'kysely';
import {
  type Bulk,
  type BulkOutcome,
  countOf,
  describeBulk,
  LEFT_WORDS,
  SETTLED_WORDS,
} from '../../core/bulk.ts';
import type { Effect } from '../../core/ledger.ts';
import { formatAmounts } from '../../core/money.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { type Block, item, say } from '../../render/block.ts';
import { entrySubject } from '../lives/entry-lives.ts';
import type { Page } from '../wanted-rows.ts';

/** A preview is shown as expired after its expiry, whether or not a process has marked it. */
const columns = sql`
  b.bulk_id as "bulkId",
  case when b.state = 'preview' and b.expires_at <= clock_timestamp() then 'expired'
    else b.state end as state,
  b.decision, b.via, b.deal_id as "dealId", b.collab_id as "collabId", b.chosen, b.reason,
  b.created_by as "createdBy", b.created_at as "createdAt",
  b.expires_at as "expiresAt", b.entries, b.ineligible, b.amounts, b.confirmed_by as "confirmedBy",
  b.confirmed_at as "confirmedAt",
  b.aborted_by as "abortedBy", b.aborted_at as "abortedAt", b.ended_at as "endedAt"`;

/** @returns null if there is no bulk action with this number. */
export async function findBulk(db: Database, bulkId: string): Promise<Bulk | null> {
  const row = await rowOf<Bulk>(db)`
    select ${columns} from ops.bulk_actions b where b.bulk_id = ${bulkId}::bigint`;
  return row ?? null;
}

/** Finds the process that currently works on a bulk action; null if there is none. */
export async function findBulkProcess(
  db: Database,
  bulkId: string,
): Promise<{ readonly host: string; readonly pid: number } | null> {
  const row = await db
    .selectFrom('ops.leases')
    .select(['host', 'pid'])
    .where('name', '=', `bulk:${bulkId}`)
    .where('expires_at', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst();
  return row ?? null;
}

/** A bulk action with the number of entries that it has settled so far. */
export type ListedBulk = Bulk & { readonly settled: number };

/** Lists bulk actions, newest first; their key is `bulkId`. */
export function listBulks(db: Database, { limit, after = null }: Page) {
  return rowsOf<ListedBulk>(db)`
    select ${columns}, coalesce(b.settled, c.settled)::float8 as settled
    from ops.bulk_actions b
    left join lateral (
      select count(*) as settled
      from ops.bulk_items i
      where b.ended_at is null and i.bulk_id = b.bulk_id and i.outcome = 'settled') c
        on true
    where ${after}::bigint is null or b.bulk_id < ${after}::bigint
    order by b.bulk_id desc limit ${limit}`;
}

/** The entries or files of a bulk action with one outcome and currency. `outcome` is null for waiting ones. */
export type BulkSum = {
  readonly outcome: BulkOutcome | null;
  readonly currency: string | null;
  readonly entries: number;
  readonly amount: string;
};

/** Sums the items of a bulk action by outcome so far. Empty if it has expired. */
export function sumBulkItems(db: Database, bulkId: string) {
  return rowsOf<BulkSum>(db)`
    select outcome, currency, count(*)::float8 as entries, coalesce(sum(amount), 0) as amount
    from ops.bulk_items
    where bulk_id = ${bulkId}::bigint group by 1, 2 order by 1 nulls first, 3 desc, 2`;
}

/** Finds the effects of the entries that a bulk action settles. */
export async function findBulkEffects(db: Database, bulkId: string): Promise<readonly Effect[]> {
  const rows = await db
    .selectFrom('ops.bulk_items as i')
    .innerJoin('ledger.entries as e', 'e.entry_id', 'i.subject_id')
    .select('e.effect')
    .distinct()
    .where('i.bulk_id', '=', bulkId)
    .where('i.is_eligible', '=', true)
    .orderBy('e.effect')
    .execute();
  return rows.map(({ effect }) => effect);
}

export type ListedBulkItem = {
  readonly subjectId: string;
  /** A short description of an entry, such as `shopify order 1001`, or the address of a file. */
  readonly subject: string;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Null while it waits. */
  readonly outcome: BulkOutcome | null;
  readonly outcomeAt: Date | null;
};

/**
 * Lists the entries or files of a bulk action by number; their key is `subjectId`.
 * @param options.outcome only items with this outcome; `waiting` for those without one.
 */
export function listBulkItems(
  db: Database,
  { bulkId, limit, after = null, outcome = null }: Page & { bulkId: string; outcome?: string | null },
) {
  return rowsOf<ListedBulkItem>(db)`
    select i.subject_id as "subjectId",
      case when e.entry_id is null then f.uri else ${entrySubject} end as subject, i.amount, i.currency,
      i.deal_id as "dealId", i.collab_id as "collabId", i.outcome, i.outcome_at as "outcomeAt"
    from (
      select * from ops.bulk_items
      where bulk_id = ${bulkId}::bigint and subject_id > coalesce(${after}::bigint, 0)
        and (${outcome}::text is null or coalesce(outcome, 'waiting') = ${outcome})
      order by subject_id limit ${limit}) i
    left join lateral (select * from ledger.entries e where i.job is not null and e.entry_id = i.subject_id
      limit 1) e
      on true
    left join lateral (
      select f.uri
      from intake.source_files f
      where i.job is null and f.source_file_id = i.subject_id
      limit 1) f
        on true
    order by i.subject_id`;
}

/** The outcome of an entry or file in words; a null outcome means that it waits. */
export function wordsOf(
  outcome: BulkOutcome | null,
  { state, decision }: Pick<Bulk, 'state' | 'decision'>,
): string {
  if (outcome === 'settled') return SETTLED_WORDS[decision];
  if (outcome !== null) return LEFT_WORDS[outcome];
  if (state === 'aborted') return 'not changed: the action was aborted first';
  return state === 'preview' ? `to be ${SETTLED_WORDS[decision].replace(/^to be /, '')}` : 'waiting';
}

/** Describes a bulk action: its preview or its results, including what was left out and why. */
export function describeBulkSums(bulk: Bulk, sums: readonly BulkSum[]): Block {
  const { bulkId, state, decision, chosen } = bulk;
  const isPreview = state === 'preview';
  const lines = [...Map.groupBy(sums, ({ outcome }) => outcome)].map(([outcome, all]) => {
    const entries = all.reduce((sum, one) => sum + one.entries, 0);
    const money = formatAmounts(all.filter(({ currency }) => currency !== null));
    return item(
      `${countOf(decision, entries)}${money === '' ? '' : `, ${money}`}: ${wordsOf(outcome, bulk)}`,
    );
  });
  const title = isPreview ? describeBulk(bulk) : `Bulk action ${bulkId} is ${state}`;
  return say(title, { tone: 'bold', parts: isPreview ? [item(chosen), ...lines] : lines });
}
