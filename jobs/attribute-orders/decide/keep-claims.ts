import type { Transaction } from 'kysely';
import { execute } from '../../../src/db/statement.ts';
import type { DB } from '../../../src/db/tables.ts';
import { EXPORTED_AT } from '../../../src/intake/files/exported-at.ts';
import { type AttributionRules, hitsOf, KNOWN_TIME } from './decisions.ts';
import { rulingsOfOrder } from './gate.ts';

/**
 * Stores all owners that the evidence of an order names, for orders in `decided_orders` whose evidence names
 * more than one. Replaces what was stored before. It decides nothing. `bi.conflicts` uses it to show who
 * would be credited under another rule, and the amounts.
 *
 * Links come before codes, because a visit comes before a checkout. Several links or codes keep the order of
 * the export, which is the only information about time that it has.
 *
 * What was stored about an order stays if the order becomes excluded, for example because it was cancelled: if it
 * was already sent, it is still credited. The view leaves out all other excluded orders.
 */
export async function keepClaims(trx: Transaction<DB>, rules: AttributionRules): Promise<void> {
  const { job } = rules;
  await execute(trx)`
    delete from intake.order_claims c
    where c.job = ${job}
      and (c.source, c.order_id) in (select source, order_id from decided_orders where outcome <> 'excluded')`;
  await execute(trx)`
    with eligible as materialized (
      select d.source, d.order_id, o.order_version_id, ${KNOWN_TIME} as known_at, ${rulingsOfOrder} as rulings,
        o.codes, o.codes_folded, o.links, o.links_folded,
        o.deal_id, o.collab_id, o.influencer_handle, null::text as exclusion_reason, null::text as named
      from decided_orders d
      cross join lateral (select o.* from intake.orders o where o.order_version_id = d.order_version_id
        limit 1) o
      cross join lateral (
        select ${EXPORTED_AT} as exported_at
        from intake.source_files f
        where f.source_file_id = o.source_file_id
        limit 1) f
      where d.outcome = 'held' or d.outcome = 'attributed' and d.evidence > 1
    ),
    ${hitsOf(rules)},
    claims as materialized (
      select h.order_version_id, h.kind,
        h.place + case h.kind when 'code' then cardinality(w.links) else 0 end as place, h.written,
        h.target, c.influencer_handle, c.deal_id, c.collab_id
      from hits h
      join eligible w using (order_version_id)
      join intake.codes c on c.job = ${job} and c.line_no = h.line_no
      where h.fault is null
      union all
      select order_version_id, 'explicit', 0, coalesce(deal_id, collab_id, influencer_handle),
        coalesce('deal:' || deal_id, 'collab:' || collab_id,
          'handle:' || ledger.fold_handle(influencer_handle)),
        influencer_handle, deal_id, collab_id
      from eligible where coalesce(deal_id, collab_id, influencer_handle) is not null
    ),
    disputed as (
      select order_version_id from claims group by order_version_id having min(target) <> max(target)
    )
    insert into intake.order_claims (job, source, order_id, place, kind, written, target, influencer_handle,
      deal_id, collab_id)
    select distinct
      on (w.source, w.order_id, c.place, c.target) ${job}, w.source, w.order_id, c.place, c.kind,
      reporting.without_addresses(c.written), c.target, c.influencer_handle, c.deal_id, c.collab_id
    from disputed join claims c using (order_version_id) join eligible w using (order_version_id)
    order by w.source, w.order_id, c.place, c.target, c.written`;
}
