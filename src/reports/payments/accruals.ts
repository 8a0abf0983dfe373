import { type RawBuilder, sql } from 'kysely';
import type { StatementSettings } from '../../config/schema.ts';
import { type DecimalText, formatMoney, type Money, sumMoney } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { monthAfter, monthBefore } from '../../core/time/month.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowOf, rowsOf, toJsonParameter } from '../../db/statement.ts';
import { claims, closedAmounts } from '../../money/payments/find-unpaid.ts';
import {
  inSets,
  isUnknown,
  lastDay,
  linesOf,
  listHeld,
  refuseContained,
} from '../../money/read-statement.ts';
import type { StatementRules } from '../../money/statement.ts';
import { type Block, column, number, say, section, table, whole } from '../../render/block.ts';
import { renderTableCsv } from '../../render/csv.ts';
import { formatCount } from '../../render/text.ts';

/** What is earned and not paid at the end of a month, of one month, brand and currency. */
export type Accrual = {
  /**
   * `pending`: the return window is still open. `to_close`: it counts, and its statement is open; also corrections of closed
   * statements. `closed`: of a closed statement, in no payment. `in_payment`: in a payment that is not paid. `paid_in_part`:
   * what was paid of such payments, negative. `unknown`: what it earns is not known; `held`: the same of orders that changed.
   */
  readonly state: keyof typeof STATES;
  /** Month of the order or fee, as `2026-10`; if it is closed, of the statement. Null: several. */
  readonly month: string | null;
  /** Null: unknown, or several. */
  readonly brandId: string | null;
  readonly currency: string;
  /** Orders; 0 where only amounts are known. */
  readonly orders: number;
  /** Null: unknown. */
  readonly amount: DecimalText | null;
};

const STATES = {
  pending: 'Pending: their return window is open',
  to_close: 'Not closed yet',
  closed: 'Closed, in no payment',
  in_payment: 'In a payment that is not paid',
  paid_in_part: 'Paid in part',
  unknown: 'It is unknown what they earn',
  held: 'Changed, and held',
} as const;

/** The same with the month at whose end it is computed. */
export type Accruals = {
  readonly month: string;
  readonly rows: readonly Accrual[];
  /** Null: it is not configured, so closed statements are not in it. */
  readonly paidFrom: string | null;
};

/**
 * Reads what is earned and not paid at the end of a month, as it is known now: orders and fees until its last day, less what
 * was paid until then. Statements before `statements.payments.from` were paid elsewhere.
 *
 * @throws KnownError `statement_contained` (exit 2): the month is open before a closed one.
 */
export async function readAccruals(
  db: Database,
  {
    month,
    rules,
    payments: { from },
  }: { month: string; rules: StatementRules; payments: Pick<StatementSettings['payments'], 'from'> },
): Promise<Accruals> {
  await refuseContained(db, month);
  const [after, end] = [monthAfter(month), lastDay(month)];
  const rows = await inSets(db, { month: after, rules }, async (trx, kept) => {
    const open = await rowsOf<Accrual>(trx)`
      ${linesOf(rules, { month: after }, kept)},
      counted as (
        select case when standing = 'correction' or standing = 'new' and due_on <= ${end} then 'to_close'
            when standing = 'new' then 'pending' else 'unknown' end as state,
          ordered_on as day, brand_id, currency, 1 as orders,
          earned_amount - coalesce(closed_amount, 0) as amount
        from orders where ordered_on <= ${end} and (standing in ('new', 'correction') or ${isUnknown})
        union all
        select 'to_close', due_on, brand_id, currency, 0, earned_amount - closed_before
        from fee_lines where due_on <= ${end} and earned_amount <> closed_before
        union all
        select 'unknown', due_on, null, currency, 0, null from unknown_fees where due_on <= ${end}
      )
      select state, to_char(day, 'YYYY-MM') as month, brand_id as "brandId", currency,
        sum(orders)::integer as orders,
        case when state <> 'unknown' then sum(amount)::numeric(24,4)::text end as amount
      from counted group by 1, 2, 3, 4`;
    const closed = await rowsOf<Accrual>(trx)`${closedAccruals({ from, month })}`;
    const held = [...Map.groupBy(await listHeld(trx), (one) => one.currency)].map(
      ([currency, own]): Accrual => ({
        state: 'held',
        month: null,
        brandId: null,
        currency,
        amount: null,
        orders: sumOrders(own),
      }),
    );
    return [...open, ...(from === null ? [] : closed), ...held];
  });
  const kinds = Object.keys(STATES);
  const placeOf = (row: Accrual) =>
    [row.currency, kinds.indexOf(row.state), row.month ?? '', row.brandId ?? ''].join(' ');
  const sorted = rows.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  return { month, rows: sorted, paidFrom: from };
}

/**
 * Keeps the accruals of the last month for analysts (`bi.accruals`), in place of what an earlier run of the month knew:
 * once an hour, because it reads all orders that are not paid.
 *
 * @param db not a transaction.
 */
export async function keepAccruals(
  db: Database,
  { rules, payments }: { rules: StatementRules; payments: Pick<StatementSettings['payments'], 'from'> },
): Promise<void> {
  const month = monthBefore(new Date(), rules.timeZone);
  const of = sql<Date>`${`${month}-01`}::date`;
  const isKept = async (in_: Database, since: RawBuilder<Date>) => {
    const rows = in_.selectFrom('reporting.accruals').select('kept_at');
    const found = rows.where('at_end_of', '=', of).where('kept_at', '>', since).limit(1);
    return (await found.executeTakeFirst()) !== undefined;
  };
  if (await isKept(db, sql`now() - interval '1 hour'`)) return;
  const asOf = await rowOf<{ at: Date }>(db)`select now() as at`;
  const { rows } = await readAccruals(db, { month, rules, payments });
  // A month without a row would look like one that no run has computed, and the one before it like the last.
  const kept = rows.length > 0 ? rows : [{ state: 'nothing', orders: 0, amount: '0' }];
  await inTransaction(db, async (trx) => {
    await execute(trx)`lock table reporting.accruals in share row exclusive mode`;
    // Another process has kept what was known later.
    if (await isKept(trx, sql`${asOf?.at}::timestamptz`)) return;
    await trx.deleteFrom('reporting.accruals').where('at_end_of', '=', of).execute();
    await execute(trx)`
      insert into reporting.accruals (at_end_of, standing, month, brand_id, currency, orders, amount, kept_at)
      select ${of}, state, (month || '-01')::date, "brandId", currency, orders, amount,
        ${asOf?.at}::timestamptz
      from jsonb_to_recordset(${toJsonParameter(kept)}::jsonb)
        as a (state text, month text, "brandId" text, currency text, orders bigint, amount numeric)`;
  });
}

/** SQL: what closed statements owe at the end of the month, in the columns of `Accrual`. */
function closedAccruals({ from, month }: { from: string | null; month: string }) {
  const end = lastDay(month);
  return sql`
    with closed as (${closedAmounts({ from: from ?? month, to: month, byBrand: true })}),
    paid as (
      select p.payment_id, (
          select coalesce(sum(x.amount), 0)
          from ops.payments_elsewhere x
          where x.payment_id = p.payment_id and x.paid_on <= ${end}) + (
          select coalesce(sum(case kind when 'paid' then e.amount else -e.amount end), 0)
          from ops.bank_entries e
          where e.payment_id = p.payment_id and e.outcome = 'counted' and e.booked_on <= ${end}) as amount
      from ops.payments p
      where p.is_live and p.paid_amount <> 0
    ),
    states as (
      select case when i.payment_id is null then 'closed' else 'in_payment' end as state, l.month,
        l.brand_id, l.currency, l.amount
      from closed l
      left join ops.payment_items i on ${claims}
      left join ops.payments p using (payment_id) left join paid using (payment_id)
      where i.payment_id is null or p.amount * sign(p.amount) > coalesce(paid.amount, 0) * sign(p.amount)
      union all
      select 'paid_in_part', null, null, p.currency, -paid.amount
      from ops.payments p join paid using (payment_id) where paid.amount > 0 and paid.amount < p.amount
    )
    select state, to_char(month, 'YYYY-MM') as month, brand_id as "brandId", currency, 0 as orders,
      sum(amount)::numeric(24,4)::text as amount
    from states group by 1, 2, 3, 4 having sum(amount) <> 0`;
}

/**
 * Sums what a closed statement, or its part of one deal, has in no live payment, by currency. What comes to nothing is
 * left out.
 */
export function sumUnclaimed(db: Database, { month, dealId }: { month: string; dealId: string | null }) {
  return rowsOf<Money>(db)`
    select l.currency, sum(l.amount)::numeric(24,4)::text as amount
    from (${closedAmounts({ from: month, to: month })}) l
    where (${dealId}::text is null or l.deal_id = ${dealId}) and not exists (
      select from ops.payment_items i where ${claims})
    group by 1 having sum(l.amount) <> 0`;
}

/** The sum of a currency: `at least` if the earnings of some orders are unknown, and null if all are. */
export function sumAccruals({ rows }: Accruals) {
  return [...Map.groupBy(rows, ({ currency }) => currency)].map(([currency, own]) => {
    const known = own.flatMap(({ amount }) => amount ?? []);
    return {
      currency,
      amount: known.length === 0 ? null : sumMoney(known),
      isAtLeast: known.length < own.length,
    };
  });
}

/** Describes the accruals: a sum of each currency, then by state, month and brand. */
export function describeAccruals(accruals: Accruals): readonly Block[] {
  const { rows, paidFrom, month } = accruals;
  const sums = sumAccruals(accruals).map(({ currency, amount, isAtLeast }) =>
    amount === null
      ? `an unknown amount in ${currency}`
      : `${isAtLeast ? 'at least ' : ''}${formatMoney(amount, currency)}`,
  );
  return [
    say(
      rows.length === 0
        ? `Nothing is earned and unpaid at the end of ${month}.`
        : `Earned and not paid at the end of ${month}, as it is known now: ${sums.join(', ')}.`,
    ),
    ...(paidFrom === null
      ? [
          say(
            'Closed statements are not in it, because statements.payments.from does not say which of them were paid elsewhere.',
            { tone: 'yellow' },
          ),
        ]
      : []),
    ...section('By state, month and brand', {
      parts: [
        table(rows, [
          column('state', ({ state }) => STATES[state]),
          whole('month', (row) => row.month),
          whole('brand', ({ brandId }) => brandId),
          number('orders', ({ orders }) => (orders === 0 ? '' : formatCount(orders))),
          number('amount', ({ amount, currency }) =>
            amount === null ? `unknown ${currency}` : formatMoney(amount, currency),
          ),
        ]),
      ],
    }),
  ];
}

/** The same as CSV. An unknown amount is blank. */
export function renderAccrualsCsv({ month, rows }: Accruals): string {
  return renderTableCsv(
    ['at_end_of', 'state', 'month', 'brand_id', 'currency', 'orders', 'amount'],
    rows.map((row) => [
      ...[month, row.state, row.month ?? '', row.brandId ?? '', row.currency, String(row.orders)],
      row.amount ?? '',
    ]),
  );
}
