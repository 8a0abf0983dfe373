import { sql } from 'kysely';
import { type ConflictingOrder, type ConflictKind, RULES, type RuleSum } from '../../core/money/conflicts.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { type ColumnKey, hasAll, type Page } from '../wanted-rows.ts';

export type ConflictFilter = {
  /** First and last month as `2026-10`, in UTC, both included; null for no limit. */
  readonly from: string | null;
  readonly to: string | null;
  readonly kind?: ConflictKind | null;
  /** A deal that is credited, or that one of the rules would credit. */
  readonly dealId?: string | null;
};

/** Finds the newest month with an order in conflict, as `2026-10`; null if there is none. */
export async function findNewestConflict(db: Database): Promise<string | null> {
  const row = await rowOf<{ month: string | null }>(db)`
    select to_char(max(day_utc), 'YYYY-MM') as month from bi.conflicts`;
  return row?.month ?? null;
}

/** Lists orders with evidence for more than one owner, newest first. */
export function listConflicts(
  db: Database,
  { limit, after = null, ...filter }: ConflictFilter & Page<ColumnKey<'day' | 'job' | 'source' | 'orderId'>>,
) {
  const isAfter =
    after !== null &&
    sql`day_utc <= ${after.day}::date and (day_utc < ${after.day}::date
      or (job, source, order_id) > (${after.job}, ${after.source}, ${after.orderId}))`;
  const winner = (prefix: string) =>
    sql`jsonb_build_object('target', ${sql.ref(`${prefix}target`)}, 'influencerHandle', ${sql.ref(`${prefix}influencer_handle`)})`;
  // Creators are looked up only for the orders of the page.
  return rowsOf<ConflictingOrder>(db)`
    with page as materialized (
      select job, source, order_id, day_utc from bi.conflicts c where ${hasAll({}, matches(filter), isAfter)}
      order by day_utc desc, job, source, order_id limit ${limit}::bigint
    )
    select c.job, c.source, c.order_id as "orderId", c.day_utc::text as day, conflict, evidence,
      is_same_creator as "isSameCreator", currency,
      amount::text as amount, disposition, ${winner('')} as credited, ${winner('first_')} as first,
      ${winner('last_')} as last, ${winner('explicit_')} as explicit
    from page p
    cross join lateral (
      select c.*
      from bi.conflicts c
      where c.job = p.job and c.source = p.source and c.order_id = p.order_id offset 0) c
    order by p.day_utc desc, p.job, p.source, p.order_id`;
}

/** Sums what each rule would credit to each owner; for each currency, the largest sums first. */
export function compareRules(
  db: Database,
  { limit, ...filter }: ConflictFilter & { readonly limit: number },
) {
  return rowsOf<RuleSum>(db)`
    with sums as materialized (
      select w.target, c.currency, ${sql.join(RULES.map(creditedBy))}, sum(c.amount) as amount
      from bi.conflicts c
      cross join lateral (values ('credited', c.target), ('first', c.first_target), ('last', c.last_target),
        ('explicit', c.explicit_target))
        as w (rule, target)
      where ${matches(filter)}
      group by w.target, c.currency
      order by c.currency, w.target is null, sum(c.amount) desc nulls last, w.target limit ${limit}::bigint
    ),
    -- Creators are looked up only for the owners that are listed.
    named as (
      select c.target, reporting.without_addresses(max(coalesce(c.influencer_handle,
        (select m.influencer_handle from mirror.deal_versions m
          where m.deal_id = reporting.deal_id_of(c.deal_id) and m.is_latest)))) as handle
      from (
        select distinct target, influencer_handle, deal_id
        from intake.order_claims
        where target in (select target from sums)) c
      group by c.target
    )
    select s.target, n.handle as "influencerHandle", s.currency, s.credited, s.first, s.last, s.explicit,
      jsonb_build_object(${sql.join(RULES.map((rule) => sql`${sql.lit(rule)}, s.${sql.ref(`${rule}_without`)}`))})
        as "withoutAmount"
    from sums s left join named n using (target)
    order by s.currency, s.target is null, s.amount desc nulls last, s.target`;
}

/** SQL for what a rule `w` credits of orders `c`, 0 if it credits none, and for how many of them lack an amount. */
function creditedBy(rule: (typeof RULES)[number]) {
  const isOf = sql`filter (where w.rule = ${sql.lit(rule)})`;
  return sql`
        case when count(*) ${isOf} = 0 then 0 else sum(c.amount) ${isOf} end::text as ${sql.ref(rule)},
        count(*) ${isOf} - count(c.amount) ${isOf} as ${sql.ref(`${rule}_without`)}`;
}

/** Only the conditions that are given, so that the view computes only what they need. */
function matches({ from, to, kind, dealId }: ConflictFilter) {
  return hasAll(
    { conflict: kind },
    from !== null && sql`day_utc >= (${from}::text || '-01')::date`,
    to !== null && sql`day_utc < (${to}::text || '-01')::date + interval '1 month'`,
    dealId != null &&
      sql`'deal:' || ${dealId}::text in (c.target, c.first_target, c.last_target, c.explicit_target)`,
  );
}
