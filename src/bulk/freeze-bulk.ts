import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import type { Bulk } from '../model/bulk.ts';
import { maskAddresses } from '../model/text/mask-addresses.ts';

export type ToFreeze = Pick<Bulk, 'decision' | 'dealId' | 'collabId' | 'chosen' | 'reason' | 'createdBy'> & {
  /** What chose the entries; null where a person picked each. */
  readonly filter: object | null;
  /** The entries, as SQL: rows with entry_id, job, effect, state, attempt, amount, currency, deal_id, collab_id and has_evidence. */
  readonly chosenEntries: RawBuilder<unknown>;
  /** Effects of which an accepted entry must name a deal or a collaboration. */
  readonly effectsThatNameDeals: readonly string[];
  /** How long the preview can be confirmed. */
  readonly validMs: number;
};

export type Frozen = Pick<Bulk, 'bulkId' | 'entries' | 'ineligible' | 'amounts'>;

/**
 * Keeps the entries that a decision is about, and what they are at this moment. From here on the bulk action is about these and no others,
 * whatever comes to match its filter later. One statement, however many there are. Nothing of the ledger is changed.
 */
export async function freezeBulk(trx: DatabaseTransaction, bulk: ToFreeze): Promise<Frozen> {
  const { decision, dealId, collabId, chosen, filter, reason, createdBy, validMs } = bulk;
  await suitLargeStatements(trx);
  const { rows } = await sql<{ id: string }>`
    insert into ops.bulk_actions (decision, deal_id, collab_id, chosen, filter, reason, created_by, expires_at)
    values (${decision}, ${dealId}, ${collabId}, ${maskAddresses(chosen)}, ${filter === null ? null : toJsonParameter(filter)}::jsonb,
      ${maskAddresses(reason)}, ${maskAddresses(createdBy)}, clock_timestamp() + ${validMs} * interval '1 millisecond')
    returning bulk_id as id`.execute(trx);
  const bulkId = rows[0]?.id ?? '';
  const frozen = await sql<Frozen>`
    with items as (
      insert into ops.bulk_items (bulk_id, entry_id, job, state, attempt, amount, currency, deal_id, collab_id, is_eligible, outcome)
      select ${bulkId}::bigint, entry_id, job, state, attempt, amount, currency, deal_id, collab_id, obstacle is null, obstacle
      from (${judgedEntries(bulk)}) judged
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

/** The chosen entries, each with why the decision cannot be applied to it, and with the deal that the decision names. */
function judgedEntries({
  decision,
  dealId,
  collabId,
  chosenEntries,
  effectsThatNameDeals,
}: ToFreeze): RawBuilder<unknown> {
  if (decision !== 'accepted')
    // Whoever writes off or sends again what somebody says was credited must look at it alone.
    return sql`
      select c.entry_id, c.job, c.state, c.attempt, c.amount, c.currency, null::text as deal_id, null::text as collab_id,
        case when c.state <> 'in_doubt' then 'not_in_doubt' when c.has_evidence then 'has_evidence' end as obstacle
      from (${chosenEntries}) c`;
  return sql`
    select n.entry_id, n.job, n.state, n.attempt, n.amount, n.currency, n.deal_id, n.collab_id,
      case when n.state <> 'in_doubt' then 'not_in_doubt' when n.lacks_deal and n.deal_id is null and n.collab_id is null then 'deal_unknown' end as obstacle
    from (
      select c.entry_id, c.job, c.state, c.attempt, c.amount, c.currency, l.lacks_deal,
        case when l.lacks_deal then ${dealId}::text else c.deal_id end as deal_id,
        case when l.lacks_deal then ${collabId}::text else c.collab_id end as collab_id
      from (${chosenEntries}) c
      cross join lateral (
        select c.deal_id is null and c.collab_id is null and c.effect = any(${[...effectsThatNameDeals]}::text[]) as lacks_deal) l) n`;
}
