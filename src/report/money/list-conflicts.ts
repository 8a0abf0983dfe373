import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import type { ConflictingOrder, ConflictKind, RuleSum } from '../../model/money/conflicts.ts';

export type ConflictFilter = {
  /** First and last month as `2026-10`, in UTC, both included; null for no limit. */
  readonly from: string | null;
  readonly to: string | null;
  readonly kind?: ConflictKind | null;
  /** A deal that is credited, or that one of the rules would credit. */
  readonly dealId?: string | null;
};

/** Key of an order, with which the next page begins. */
export type ConflictKey = {
  readonly day: string;
  readonly job: string;
  readonly source: string;
  readonly orderId: string;
};

/** Lists orders with evidence for more than one owner, newest first. */
export async function listConflicts(
  db: Database,
  {
    limit,
    after = null,
    ...filter
  }: ConflictFilter & { readonly limit: number; readonly after?: ConflictKey | null },
): Promise<readonly ConflictingOrder[]> {
  const isAfter =
    after === null
      ? sql`true`
      : sql`(day_utc < ${after.day}::date or day_utc = ${after.day}::date
          and (job, source, order_id) > (${after.job}, ${after.source}, ${after.orderId}))`;
  const winner = (prefix: string) =>
    sql`jsonb_build_object('target', ${sql.ref(`${prefix}target`)}, 'influencerHandle', ${sql.ref(`${prefix}influencer_handle`)})`;
  const { rows } = await sql<ConflictingOrder>`
    select job, source, order_id as "orderId", day_utc::text as day, conflict, evidence, is_same_creator as "isSameCreator", currency,
      amount::text as amount, disposition, ${winner('')} as credited, ${winner('first_')} as first, ${winner('last_')} as last,
      ${winner('explicit_')} as explicit
    from bi.conflicts c where ${matches(filter)} and ${isAfter}
    order by day_utc desc, job, source, order_id limit ${limit}::bigint`.execute(db);
  return rows;
}

/** Sums what each rule would credit to each owner; for each currency, the largest sums first. */
export async function compareRules(
  db: Database,
  { limit, ...filter }: ConflictFilter & { readonly limit: number },
): Promise<readonly RuleSum[]> {
  const { rows } = await sql<RuleSum>`
    select w.target, max(w.handle) as "influencerHandle", c.currency, sum(case when w.rule = 'credited' then c.amount else 0 end)::text as credited,
      sum(case when w.rule = 'first' then c.amount else 0 end)::text as first,
      sum(case when w.rule = 'last' then c.amount else 0 end)::text as last,
      sum(case when w.rule = 'explicit' then c.amount else 0 end)::text as explicit
    from bi.conflicts c
    cross join lateral (values ('credited', c.target, c.influencer_handle), ('first', c.first_target, c.first_influencer_handle),
      ('last', c.last_target, c.last_influencer_handle), ('explicit', c.explicit_target, c.explicit_influencer_handle)) as w (rule, target, handle)
    where ${matches(filter)}
    group by w.target, c.currency
    order by c.currency, w.target is null, sum(c.amount) desc, w.target limit ${limit}::bigint`.execute(db);
  return rows;
}

function matches({ from, to, kind = null, dealId = null }: ConflictFilter) {
  return sql`(${from}::text is null or day_utc >= (${from}::text || '-01')::date)
    and (${to}::text is null or day_utc < (${to}::text || '-01')::date + interval '1 month')
    and (${kind}::text is null or conflict = ${kind})
    and (${dealId}::text is null or 'deal:' || ${dealId}::text in (c.target, c.first_target, c.last_target, c.explicit_target))`;
}
