import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import type { Exchange } from './convert-lines.ts';

/**
 * Stores the exchange rates for the conversion of returns.
 *
 * @returns the months whose amounts may change, as `2026-10-01`. If the file only gains a day, that is one or
 *   two months.
 */
export async function adoptRates(
  trx: DatabaseTransaction,
  exchange: Exchange | null,
): Promise<readonly string[]> {
  const { rows } = await sql<{ month: string }>`
    with given as materialized (
      select currency, day::date as day_local, rate
      from jsonb_to_recordset(${toJsonParameter(exchange?.rates ?? [])}::jsonb) as r (currency text, day text, rate numeric)
    ),
    removed as (
      delete from reporting.exchange_rates x
      where not exists (select from given g where g.currency = x.currency and g.day_local = x.day_local)
      returning x.day_local
    ),
    written as (
      insert into reporting.exchange_rates as x (currency, day_local, rate) select currency, day_local, rate from given
      on conflict (currency, day_local) do update set rate = excluded.rate where x.rate <> excluded.rate
      returning x.day_local
    )
    -- Months are in UTC, days are not.
    select distinct date_trunc('month', day_local + shift)::date::text as month
    from (select day_local from removed union select day_local from written) d cross join (values (-1), (1)) as s(shift)`.execute(
    trx,
  );
  return rows.map(({ month }) => month);
}
