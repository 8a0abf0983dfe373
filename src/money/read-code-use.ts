import { sql } from 'kysely';
import type { CodeDay, LeakedCode } from '../core/money/leak.ts';
import type { Database } from '../db/connect.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';

/** Recent use of a code that has an owner. */
export type CodeUse = Pick<LeakedCode, 'dealId' | 'influencerHandle'> & {
  /** The code in the folded form by which orders are matched. */
  readonly code: string;
  /** Day of the first known order with the code. */
  readonly firstDay: number;
  readonly days: readonly CodeDay[];
};

/**
 * Reads how often codes with an owner were used, day by day, as of the last refresh. Cancelled orders and
 * tests are left out.
 *
 * @param options.days number of days before today to read, in UTC.
 * @param options.recent only codes with at least `orders` orders without a link in the last `days` days.
 */
export async function readCodeUse(
  db: Database,
  {
    days,
    today,
    recent,
  }: {
    readonly days: number;
    /** Days since 1970-01-01, in UTC. */
    readonly today: number;
    readonly recent: { readonly days: number; readonly orders: number };
  },
): Promise<readonly CodeUse[]> {
  const since = (ago: number) => sql`date '1970-01-01' + ${today - ago}::integer`;
  const { rows } = await sql<CodeUse>`
    with recent as materialized (
      select code_folded from reporting.code_use_days where day_utc > ${since(recent.days)}
      group by code_folded having sum(without_link) >= ${recent.orders}
    ),
    owned as materialized (
      select code_folded, min(deal_id) as deal_id, min(influencer_handle) as influencer_handle
      from intake.codes where code_folded = any (array(select code_folded from recent)) group by code_folded
    )
    select u.code_folded as code, o.deal_id as "dealId", reporting.without_addresses(o.influencer_handle) as "influencerHandle",
      min(u.day_utc - date '1970-01-01') as "firstDay",
      jsonb_agg(jsonb_build_object('day', u.day_utc - date '1970-01-01', 'orders', u.orders, 'withoutLink', u.without_link) order by u.day_utc) as days
    from owned o
    cross join lateral (
      select u.* from reporting.code_use_days u where u.code_folded = o.code_folded and u.day_utc > ${since(days)} offset 0) u
    group by 1, 2, 3 order by 1`.execute(db);
  return rows;
}

/**
 * Counts the orders with each of some codes since a day: those with a known customer, and those whose
 * customer had ordered before.
 */
export async function countReturning(
  db: Database,
  codes: readonly { readonly code: string; readonly since: string }[],
): Promise<ReadonlyMap<string, { readonly known: number; readonly returning: number }>> {
  if (codes.length === 0) return new Map();
  const first = codes.map(({ since }) => since).toSorted()[0] ?? '';
  const { rows } = await sql<{ code: string; known: string; returning: string }>`
    with orders as materialized (
      select o.customer_key, o.codes_folded, coalesce(o.placed_at, o.paid_at, o.first_seen_at) as ordered_at from intake.orders o
      where coalesce(o.placed_at, o.paid_at, o.first_seen_at) >= ${first}::date and o.is_current and o.customer_key is not null
        and o.codes_folded && ${codes.map(({ code }) => code)}::text[]
    )
    select c.code, count(*) as known, count(*) filter (where exists (
        select from intake.orders p where p.customer_key = o.customer_key and p.is_current
          and coalesce(p.placed_at, p.paid_at, p.first_seen_at) < o.ordered_at)) as returning
    from jsonb_to_recordset(${toJsonParameter(codes)}::jsonb) as c (code text, since date)
    join orders o on c.code = any (o.codes_folded) and o.ordered_at >= c.since
    group by c.code`.execute(db);
  return new Map(
    rows.map(({ code, known, returning }) => [code, { known: Number(known), returning: Number(returning) }]),
  );
}

/** Lists codes that a person acknowledged in the last 30 days, from the audit. */
export async function listAcknowledgedLeaks(
  db: Database,
): Promise<ReadonlyMap<string, NonNullable<LeakedCode['acknowledged']>>> {
  const { rows } = await sql<{ code: string; by: string; at: Date; reason: string }>`
    select distinct on (subject) subject as code, actor as by, occurred_at as at, coalesce(reason, '') as reason
    from ops.audit
    where subject_kind = 'code' and action = 'acknowledge_leak' and occurred_at > now() - interval '30 days'
    order by subject, audit_id desc`.execute(db);
  return new Map(rows.map(({ code, ...acknowledged }) => [code, acknowledged]));
}
