import { type RawBuilder, sql } from 'kysely';
import type { Bulk, DoubtDecision, FileDecision } from '../core/bulk.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';

export type ToFreeze = Pick<
  Bulk,
  'decision' | 'dealId' | 'collabId' | 'chosen' | 'reason' | 'createdBy' | 'via'
> & {
  /** The filter that selected them. Null if a person selected each one. */
  readonly filter: object | null;
  /** SQL for the selection, as returned by `judgeDoubts`, `judgeDoubleCredits` or `judgeFiles`. */
  readonly judged: RawBuilder<unknown>;
  /** How long the preview can be confirmed, in milliseconds. */
  readonly validMs: number;
};

export type Frozen = Pick<Bulk, 'bulkId' | 'entries' | 'ineligible' | 'amounts'>;

/**
 * Freezes the entries or files of a decision with their current state. From then on the bulk action concerns
 * only these, whatever matches its filter later. It is one statement, however many there are, and changes
 * none of them.
 */
export async function freezeBulk(trx: DatabaseTransaction, bulk: ToFreeze): Promise<Frozen> {
  const { decision, dealId, collabId, chosen, filter, judged, reason, createdBy, via, validMs } = bulk;
  await suitLargeStatements(trx);
  const { rows } = await sql<{ id: string }>`
    insert into ops.bulk_actions (decision, deal_id, collab_id, chosen, filter, reason, created_by, via, expires_at)
    values (${decision}, ${dealId}, ${collabId}, ${maskAddresses(chosen)}, ${filter === null ? null : toJsonParameter(filter)}::jsonb,
      ${maskAddresses(reason)}, ${maskAddresses(createdBy)}, ${via}, clock_timestamp() + ${validMs} * interval '1 millisecond')
    returning bulk_id as id`.execute(trx);
  const bulkId = rows[0]?.id ?? '';
  const frozen = await sql<Frozen>`
    with items as (
      insert into ops.bulk_items
        (bulk_id, subject_id, job, state, attempt, credits, amount, currency, deal_id, collab_id, is_eligible, outcome)
      select ${bulkId}::bigint, subject_id, job, state, attempt, credits, amount, currency, deal_id, collab_id, exclusion_reason is null, exclusion_reason
      from (${judged}) judged
      returning is_eligible, currency, amount
    )
    update ops.bulk_actions b
    set entries = (select count(*) from items where is_eligible),
        ineligible = (select count(*) from items where not is_eligible),
        amounts = coalesce((
          select jsonb_agg(jsonb_build_object('currency', s.currency, 'amount', s.amount::text) order by s.currency)
          from (select currency, sum(amount) as amount from items where is_eligible and amount is not null group by currency) s), '[]')
    where b.bulk_id = ${bulkId}::bigint
    returning b.bulk_id as "bulkId", b.entries, b.ineligible, b.amounts`.execute(trx);
  const [sums] = frozen.rows;
  if (sums === undefined) throw new Error('a bulk action was not stored');
  return sums;
}

/**
 * SQL for doubts, each with the reason why the decision cannot be applied to it, and with the deal for the
 * decision.
 *
 * @param options.chosen SQL for rows with entry_id, job, effect, state, attempt, amount, currency, deal_id,
 * collab_id and has_evidence.
 * @param options.effectsThatNameDeals effects for which an accepted entry must name a deal or a
 * collaboration.
 */
export function judgeDoubts({
  decision,
  dealId,
  collabId,
  chosen,
  effectsThatNameDeals,
}: {
  readonly decision: DoubtDecision;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly chosen: RawBuilder<unknown>;
  readonly effectsThatNameDeals: readonly string[];
}): RawBuilder<unknown> {
  if (decision !== 'accepted')
    // If there is evidence that an order was credited, a person must review it separately before writing it
    // off or sending it again.
    return sql`
      select c.entry_id as subject_id, c.job, c.state, c.attempt, null::integer as credits, c.amount, c.currency, null::text as deal_id,
        null::text as collab_id,
        case when c.state <> 'in_doubt' then 'not_in_doubt' when c.has_evidence then 'has_evidence' end as exclusion_reason
      from (${chosen}) c`;
  return sql`
    select n.entry_id as subject_id, n.job, n.state, n.attempt, null::integer as credits, n.amount, n.currency, n.deal_id, n.collab_id,
      case when n.state <> 'in_doubt' then 'not_in_doubt' when n.lacks_deal and n.deal_id is null and n.collab_id is null then 'deal_unknown' end as exclusion_reason
    from (
      select c.entry_id, c.job, c.state, c.attempt, c.amount, c.currency, l.lacks_deal,
        case when l.lacks_deal then ${dealId}::text else c.deal_id end as deal_id,
        case when l.lacks_deal then ${collabId}::text else c.collab_id end as collab_id
      from (${chosen}) c
      cross join lateral (
        select c.deal_id is null and c.collab_id is null and c.effect = any(${[...effectsThatNameDeals]}::text[]) as lacks_deal) l) n`;
}

/**
 * SQL for double credits. @param chosen SQL for rows with entry_id, job, state, attempt, amount, currency,
 * and credits, which is null for entries that are not double credits.
 */
export function judgeDoubleCredits(chosen: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select c.entry_id as subject_id, c.job, c.state, c.attempt, c.credits, c.amount * (c.credits - 1) as amount, c.currency,
      null::text as deal_id, null::text as collab_id, case when c.credits is null then 'not_credited_twice' end as exclusion_reason
    from (${chosen}) c`;
}

/**
 * SQL for files. @param chosen SQL for rows with source_file_id, state, and is_last, which is true for the
 * latest reading of the file.
 */
export function judgeFiles(decision: FileDecision, chosen: RawBuilder<unknown>): RawBuilder<unknown> {
  const exclusionReason =
    decision === 'release'
      ? sql`case when c.state <> 'held' or not c.is_last then 'not_held' end`
      : sql`case when c.state = 'reading' or not c.is_last then 'being_read' end`;
  return sql`
    select c.source_file_id as subject_id, null::text as job, c.state, null::integer as attempt, null::integer as credits,
      null::numeric as amount, null::text as currency, null::text as deal_id, null::text as collab_id, ${exclusionReason} as exclusion_reason
    from (${chosen}) c`;
}
