import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { UnownedCode } from '../model/orders-report.ts';

export type UnownedCodes = { readonly codes: readonly UnownedCode[]; readonly total: number };

/**
 * Codes that orders carry and nobody owns, by revenue. Revenue of different currencies can't be compared, so the first of each
 * currency come first. Orders that carry the same are added up before anything else, since they may be millions. An order with two such codes counts for both; without a code its link or handle stands in.
 */
export async function listUnownedCodes(
  db: Database,
  options: { readonly job: string; readonly sources: readonly string[]; readonly limit: number },
): Promise<UnownedCodes> {
  const { rows } = await sql<{
    code: string;
    currency: string;
    orders: string;
    amount: string;
    total: string;
  }>`
    with alike as (
      select o.codes, o.links, coalesce(o.influencer_handle, o.deal_id, o.collab_id) as named, a.currency, count(*) as orders, sum(a.amount) as amount
      from intake.attributions a
      join intake.orders o using (order_version_id)
      left join ledger.entries e on e.entry_id = a.entry_id
      where a.job = ${options.job} and a.outcome = 'unattributed' and a.source = any(${options.sources}::text[])
        and (e.entry_id is null or e.state in ('held', 'rejected'))
      group by 1, 2, 3, 4
    ),
    carried as (
      select c.folded, c.code, alike.currency, alike.orders, alike.amount
      from alike
      cross join lateral (
        select upper(regexp_replace(code, '\\s', '', 'g')) as folded, min(code) as code
        from unnest(
          case when cardinality(codes) > 0 then codes when cardinality(links) > 0 then links else array_remove(array[named], null) end) as code
        group by 1
      ) c
    ),
    summed as (
      select min(code) as code, currency, sum(orders) as orders, sum(amount) as amount,
        row_number() over (partition by currency order by sum(amount) desc, min(code)) as place
      from carried group by folded, currency
    )
    select code, currency, orders, amount, count(*) over () as total
    from summed order by place, currency limit ${options.limit}`.execute(db);
  return {
    codes: rows.map(({ total: _total, ...row }) => ({ ...row, orders: Number(row.orders) })),
    total: Number(rows[0]?.total ?? 0),
  };
}
