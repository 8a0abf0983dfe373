import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import type { CodeDay, LeakedCode } from '../../model/money/leak.ts';

/** Use of an owned code, as far as it is looked at. */
export type CodeUse = Pick<LeakedCode, 'dealId' | 'influencerHandle'> & {
  /** Folded, as orders are matched by it. */
  readonly code: string;
  /** Day on which an order first carried it in what is known. */
  readonly firstDay: number;
  readonly days: readonly CodeDay[];
};

/**
 * How often codes that have an owner were used of late, day by day. Cancelled orders and tests are left out.
 *
 * @param options.days so many days before today, in UTC.
 */
export async function readCodeUse(
  db: Database,
  { days }: { readonly days: number },
): Promise<readonly CodeUse[]> {
  const { rows } = await sql<CodeUse>`
    with owned as materialized (
      select code_folded, min(deal_id) as deal_id, min(influencer_handle) as influencer_handle from intake.codes group by code_folded
    ),
    used as (
      select c.code, (coalesce(o.placed_at, o.paid_at, o.first_seen_at) at time zone 'UTC')::date - date '1970-01-01' as day, count(*) as orders,
        count(*) filter (where cardinality(o.links) = 0) as without_link
      from intake.orders o
      join intake.source_files f on f.source_file_id = o.source_file_id and f.state = 'sealed'
      cross join lateral (select distinct code from unnest(o.codes_folded) as u(code)) c
      where o.is_current and o.exclusion is null and o.cancelled_at is null
        and coalesce(o.placed_at, o.paid_at, o.first_seen_at) > now() - ${days} * interval '1 day'
      group by 1, 2
    )
    select u.code, o.deal_id as "dealId", reporting.without_addresses(o.influencer_handle) as "influencerHandle", min(u.day) as "firstDay",
      jsonb_agg(jsonb_build_object('day', u.day, 'orders', u.orders, 'withoutLink', u.without_link) order by u.day) as days
    from used u join owned o on o.code_folded = u.code
    group by 1, 2, 3 order by 1`.execute(db);
  return rows;
}

/** Orders with a code since a day: how many of their customers are known, and how many of those had ordered before. */
export async function countReturning(
  db: Database,
  { code, since }: { readonly code: string; readonly since: string },
): Promise<{ readonly known: number; readonly returning: number }> {
  const { rows } = await sql<{ known: string; returning: string }>`
    select count(*) as known, count(*) filter (where exists (
        select from intake.orders p where p.customer_key = o.customer_key and p.is_current
          and coalesce(p.placed_at, p.paid_at, p.first_seen_at) < coalesce(o.placed_at, o.paid_at, o.first_seen_at))) as returning
    from intake.orders o
    where o.is_current and o.customer_key is not null and ${code} = any (o.codes_folded)
      and coalesce(o.placed_at, o.paid_at, o.first_seen_at) >= ${since}::date`.execute(db);
  return { known: Number(rows[0]?.known ?? 0), returning: Number(rows[0]?.returning ?? 0) };
}

/** Codes that somebody has looked at in the last 30 days, as the audit keeps it. */
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
