import { type RawBuilder, sql } from 'kysely';
import { OTHER_WORDS } from '../../core/held/held-order.ts';
import type { DecimalText } from '../../core/money.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { foldWord } from '../../intake/values/clean-text.ts';
import { type Having, hasAll } from '../wanted-rows.ts';

/** Selects held orders. What is null or omitted selects all. */
export type HeldFilter = Having<'job' | 'source' | 'reason'> & {
  /** What is not known, as in `HeldGroup`, or any other word; case and blanks do not count. */
  readonly status?: string | null;
  readonly orderIds?: readonly string[] | null;
  /** True: a person has decided about them, and the next run follows that. False: they wait for a decision. */
  readonly isDecided?: boolean | null;
};

/** Orders of one job and source that are held for the same reason, in one currency, and decided in the same way. */
export type HeldGroup = {
  readonly job: string;
  readonly source: string;
  readonly reason: string;
  /**
   * What is not known: the status, empty if the orders have none, or `COLUMN=WORD` of another column. `OTHER_WORDS`:
   * all but the most frequent ones. Null: they are held for another reason.
   */
  readonly status: string | null;
  readonly currency: string;
  /** What a person decided about them, which the next run follows. Null: they wait for a decision. */
  readonly decision: 'credit' | 'exclude' | null;
  /** Orders that were not posted, and their revenue by the rule of the job as far as it is known; null if none is. */
  readonly orders: number;
  readonly amount: DecimalText | null;
  /** Number of these orders whose revenue is not known. */
  readonly withoutAmount: number;
  /** Orders that were posted before it was known that they would be held. They stay posted. */
  readonly sent: number;
  readonly sentAmount: DecimalText | null;
  readonly sentWithoutAmount: number;
  /** What they came to when they were posted. Null: nothing was posted, or in another currency than they have now. */
  readonly postedAmount: DecimalText | null;
  /** How much of `sentAmount` was refunded by now, as far as it is stated. Null: nothing is. */
  readonly sentRefunded: DecimalText | null;
  /** When the first of them was decided. */
  readonly since: Date;
};

/** Counts the orders of groups, those that were posted before included: a decision is about all of them. */
export function countHeld(groups: readonly HeldGroup[]): number {
  return groups.reduce((sum, { orders, sent }) => sum + orders + sent, 0);
}

/**
 * Counts the words of groups that are not known, and their reasons: what a person says of one holds for no other. That
 * a word is not stored (earlier versions) is another.
 */
export function countWords(groups: readonly HeldGroup[]): number {
  const words = groups.map(({ reason, status }) => [reason, status === null ? null : foldWord(status)]);
  return new Set(words.map((word) => JSON.stringify(word))).size;
}

/** One held order, with what a person needs to decide about it. */
export type HeldOrder = Pick<
  HeldGroup,
  'job' | 'source' | 'reason' | 'status' | 'currency' | 'amount' | 'decision'
> & {
  readonly orderId: string;
  readonly orderName: string | null;
  /** The codes, links or name that it carries. */
  readonly carries: string | null;
  readonly placedAt: Date | null;
  /** The file that states it, and its line there. */
  readonly uri: string;
  readonly line: number;
  /** Digest of the version that is held. */
  readonly contentHash: string;
};

/**
 * SQL that selects decision `a` and order `o` of what a filter names, whatever their word and whether or not they are
 * decided.
 */
function fromHeld({ job, source, reason, orderIds = null }: HeldFilter) {
  return sql`
    from intake.attributions a
    cross join lateral (select o.* from intake.orders o where o.order_version_id = a.order_version_id
      limit 1) o
    where a.outcome = 'held'
      and ${hasAll({ 'a.job': job, 'a.source': source, 'a.reason': reason })}
      and (${orderIds === null} or a.order_id = any(${[...(orderIds ?? [])]}::text[]))`;
}

/** SQL that is true if `word` and `place` of row `a` are those of a filter. */
function isOfWord({ status = null }: HeldFilter): RawBuilder<unknown> {
  if (status === null) return sql`true`;
  return status === OTHER_WORDS ? isOtherWord : sql`${folded(sql`a.word`)} = ${folded(sql`${status}::text`)}`;
}

/**
 * SQL for the held orders of a filter: decision `a` with its `word`, order `o`, and what becomes of a decision about its
 * status. `isOtherWord` needs all orders of a reason, so `a` is ranked among them where no word and no order is named.
 */
function selectHeld(filter: HeldFilter): RawBuilder<unknown> {
  const { isDecided = null } = filter;
  return sql`
    from (
      select a.*, ${placeFor(filter)} as place
      from (
        select a.*, o.content_hash, o.status, o.order_name, coalesce(o.placed_at, o.paid_at) as placed_at,
          o.source_file_id, o.line_no, ${heldWord} as word,
          ${isRanked(filter) ? sql`count(*) over (partition by a.job, a.source, a.reason, (${heldWord}) collate "C")` : sql`1`} as uses
        ${fromHeld(filter)}) a) a
    cross join lateral (select a.content_hash, a.status) o
    where ${isOfWord(filter)}
      and (${isDecided}::boolean is null or (${heldDecision} is not null) = ${isDecided})`;
}

/** SQL for the place of the word of row `a` among those of its reason; 1 if the filter needs no place. */
const placeFor = (filter: HeldFilter) => (isRanked(filter) ? PLACE : sql`1`);

/** Whether the words of a filter are counted. A word or an order that is named is what it is, however frequent it is. */
function isRanked({ status = null, orderIds = null }: HeldFilter): boolean {
  return orderIds === null && (status === null || status === OTHER_WORDS);
}

/** SQL for the decision in force about decision `a` and order `o`, which the next run follows; null if there is none. */
export const heldDecision = sql`greatest(
  (select max(r.decision) from intake.rulings r
    where r.withdrawn_at is null and r.source = a.source and r.order_id = a.order_id
      and (r.reason = a.reason or r.decision = 'exclude')
      and (r.content_hash is null or r.content_hash = o.content_hash)),
  (select r.decision from intake.rulings r
    where r.withdrawn_at is null and r.source = a.source and r.reason = a.reason
      and r.status = coalesce(o.status, '')))`;

/** SQL for what is not known of decision `a` and order `o`: the status, or the word that `unknownWord` has stored. */
export const heldWord = sql`case
  when a.reason = 'unknown_status' then coalesce(o.status, '')
  when starts_with(o.exclusion, a.reason || ':') then substr(o.exclusion, length(a.reason) + 2) end`;

/** As many words of a reason have a group of their own. A column of free text may have another one for each order. */
const MOST_WORDS = 20;

/** SQL for the place of the word of decision `a` among those of its reason, the most frequent first. */
const PLACE = sql`
  dense_rank() over (partition by a.job, a.source, a.reason order by a.word is null, a.uses desc,
    a.word collate "C")`;

/** SQL that is true if decision `a` has a word, and it is none of the most frequent ones of its reason. */
const isOtherWord = sql`(a.word is not null and a.place > ${MOST_WORDS})`;

/** SQL that folds words as `foldWord` does. */
const folded = (text: RawBuilder<unknown>) => sql`regexp_replace(lower(${text}), '\\s+', '_', 'g')`;

/** SQL that is true if the order of decision `a` was posted before. */
const isSent = sql`exists (
  select from ledger.entries e
  where e.entry_id = a.entry_id and e.state in ('accepted', 'sending', 'in_doubt', 'written_off'))`;

/**
 * Adds up the held orders of a filter by job, source, reason, word and currency, largest groups first. They are added up
 * before their words are ranked: there may be 100,000 of them, with a few words.
 */
export function listHeldGroups(db: Database, filter: HeldFilter = {}) {
  const { isDecided = null } = filter;
  return rowsOf<HeldGroup>(db)`
    select job, source, reason, status, currency, decision,
      coalesce(sum(orders) filter (where not is_sent), 0)::float8 as orders,
      sum(amount) filter (where not is_sent) as amount,
      coalesce(sum(unknown) filter (where not is_sent), 0)::integer as "withoutAmount",
      coalesce(sum(orders) filter (where is_sent), 0)::float8 as sent,
      sum(amount) filter (where is_sent) as "sentAmount",
      coalesce(sum(unknown) filter (where is_sent), 0)::integer as "sentWithoutAmount",
      case when bool_and(orders = in_currency) filter (where is_sent)
        then sum(posted) filter (where is_sent) end as "postedAmount",
      nullif(sum(refunded) filter (where is_sent), 0) as "sentRefunded", min(since) as since
    from (
      select a.*, case when ${isOtherWord} then ${OTHER_WORDS} else a.word end as status
      from (
        select a.*, ${placeFor(filter)} as place
        from (
          select a.*, sum(orders) over (partition by a.job, a.source, a.reason, a.word collate "C") as uses
          from (
            select job, source, reason, word, currency, decision, is_sent, count(*) as orders, sum(amount) as amount,
              count(*) filter (where amount is null) as unknown, sum(posted) as posted,
              count(posted) as in_currency, min(decided_at) as since,
              -- What was posted without its refund is not refunded once more.
              sum(refunded) filter (where (posted = total - refunded and posted is distinct from subtotal)
                is not true) as refunded
            from (
              select a.job, a.source, a.reason, ${heldWord} as word, a.currency, a.amount, a.decided_at,
                ${heldDecision} as decision, ${isSent} as is_sent, o.refunded, o.total, o.subtotal,
                (select e.amount from ledger.entries e
                  where e.entry_id = a.entry_id and e.currency = a.currency) as posted
              ${fromHeld(filter)} offset 0) h
            group by 1, 2, 3, 4, 5, 6, 7) a) a) a
      where ${isOfWord(filter)} and (${isDecided}::boolean is null or (decision is not null) = ${isDecided})) h
    group by 1, 2, 3, 4, 5, 6 order by sum(orders) desc, 1, 2, 3, 4, 5, 6`;
}

/** Lists the jobs that have held orders, decided or not. */
export async function listHoldingJobs(db: Database): Promise<readonly { readonly job: string }[]> {
  return db
    .selectFrom('intake.attributions')
    .select('job')
    .distinct()
    .where('outcome', '=', 'held')
    .execute();
}

/** SQL for the decisions in force about decision `a` and order `o`, which the next run follows. */
const rulings = sql`(
  select array_agg(r.ruling_id order by r.ruling_id) from intake.rulings r
  where r.withdrawn_at is null and r.source = a.source and r.reason = a.reason
    and (r.order_id = a.order_id or r.status = coalesce(o.status, '')))`;

/**
 * A digest of the held orders of a filter, each with its reason, amount and state, and whether it was posted before. It
 * tells whether what a person decides about is still what was shown. Ask for it before the orders that are shown.
 */
export async function digestHeld(db: Database, filter: HeldFilter): Promise<string> {
  const row = await rowOf<{ digest: string | null }>(db)`
    select encode(sha256(convert_to(string_agg(jsonb_build_array(a.job, a.source, a.order_id, a.reason,
              a.currency, a.amount,
      ${isSent}, o.content_hash, ${rulings})::text, ',' order by a.source, a.order_id, a.job), 'UTF8')),
      'hex') as digest
    ${selectHeld(filter)}`;
  return row?.digest ?? '';
}

/** Lists held orders of a filter, by source and id. */
export function listHeldOrders(
  db: Database,
  { limit, ...filter }: HeldFilter & { readonly limit: number | null },
) {
  return rowsOf<HeldOrder>(db)`
    select a.job, a.source, a.order_id as "orderId", a.order_name as "orderName", a.reason, a.word as status,
      a.currency, a.amount,
      reporting.without_addresses(a.matched_value) as carries, ${heldDecision} as decision,
      a.placed_at as "placedAt",
      (select f.uri from intake.source_files f where f.source_file_id = a.source_file_id) as uri,
      a.line_no::float8 as line, a.content_hash as "contentHash"
    ${selectHeld(filter)}
    order by a.source, a.order_id, a.job limit ${limit}`;
}
