import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { UnownedCode } from '../model/orders-report.ts';

export type UnownedCodes = { readonly codes: readonly UnownedCode[]; readonly total: number };

/**
 * Codes that orders carry and nobody owns, by revenue, as of the last refresh. Revenue of different currencies can't be compared, so the
 * first of each currency come first. An order with two such codes counts for both; without a code its link or handle stands in.
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
    with summed as (
      select min(code) as code, currency, sum(orders) as orders, sum(amount) as amount,
        row_number() over (partition by currency order by sum(amount) desc, min(code)) as place
      from reporting.code_days
      where job = ${options.job} and source = any(${options.sources}::text[])
      group by code_folded, currency
    )
    select code, currency, orders, amount, count(*) over () as total
    from summed order by place, currency limit ${options.limit}`.execute(db);
  return {
    codes: rows.map(({ total: _total, ...row }) => ({ ...row, orders: Number(row.orders) })),
    total: Number(rows[0]?.total ?? 0),
  };
}
