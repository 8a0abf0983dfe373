import { sql } from 'kysely';
import { type DecimalText, sumMoney } from '../core/money.ts';
import { sumOrders } from '../core/order.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import { onlyHandle } from './kept-earnings.ts';
import { ratedOrders } from './rated-orders.ts';
import { feesOf, inSets, lastDay } from './read-statement.ts';
import type { StatementRules } from './statement.ts';

/** What is earned under some terms. */
type Earned = {
  readonly amount: DecimalText;
  /** Orders and fees of which it is unknown what they come to, so the amount is "at least". */
  readonly unknown: number;
};

/** What a deal, or the owner of a code with a fee, earned in a month under two versions of the terms. */
export type ReplayedMonth = {
  /** Month in which it counts, such as `2026-10`. */
  readonly month: string;
  /** Null: a fee of a code. */
  readonly dealId: string | null;
  readonly code: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  readonly orders: number;
  readonly today: Earned;
  readonly draft: Earned;
};

type Row = Pick<ReplayedMonth, 'month' | 'dealId' | 'code' | 'influencerHandle' | 'currency' | 'orders'> &
  Earned;

/**
 * Computes what was earned in some months under the terms of today and under others, from the orders as they are known
 * now. Both are computed as statements compute them, in one snapshot, and nothing is changed.
 *
 * @param options.from first month, such as `2026-01`.
 * @param options.to last month.
 */
export function replayTerms(
  db: Database,
  options: {
    readonly today: StatementRules;
    readonly draft: StatementRules;
    readonly from: string;
    readonly to: string;
  },
): Promise<readonly ReplayedMonth[]> {
  const { today, draft, from, to } = options;
  return inSets(db, { month: to, rules: today }, async (trx) => {
    const [before, after] = [
      await earnedBy(trx, today, { from, to }),
      await earnedBy(trx, draft, { from, to }),
    ];
    const keyOf = ({ month, dealId, code, currency }: Row) => JSON.stringify([month, dealId, code, currency]);
    const [byToday, byDraft] = [before, after].map((rows) => new Map(rows.map((row) => [keyOf(row), row])));
    return [...new Set([...before, ...after].map(keyOf))].toSorted().flatMap((key) => {
      const [one, other] = [byToday?.get(key), byDraft?.get(key)];
      const row = one ?? other;
      if (row === undefined) return [];
      const { amount: _amount, unknown: _unknown, ...rest } = row;
      return [{ ...rest, today: earnedOf(one), draft: earnedOf(other) }];
    });
  });
}

function earnedOf(row: Row | undefined): Earned {
  return { amount: row?.amount ?? sumMoney([]), unknown: row?.unknown ?? 0 };
}

async function earnedBy(
  trx: DatabaseTransaction,
  rules: StatementRules,
  { from, to }: { from: string; to: string },
): Promise<readonly Row[]> {
  const isWithin = sql`due_on between ${`${from}-01`}::date and ${lastDay(to)}`;
  return rowsOf<Row>(trx)`
    with ${ratedOrders(rules)}, ${feesOf(rules, { month: to })},
    earned as (
      select due_on, deal_id, null as code, coalesce(w.influencer_handle, e.influencer_handle) as influencer_handle,
        currency, true as is_order, earned_amount
      from earnings e left join reporting.deal_owners w using (deal_id)
      where ${isWithin}
      union all
      select due_on, deal_id, code, w.influencer_handle, currency, false, case when is_known then earned_amount end
      from owed_fees left join reporting.deal_owners w using (deal_id)
      where ${isWithin}
    )
    select to_char(due_on, 'YYYY-MM') as month, deal_id as "dealId",
      case when deal_id is null then code end as code,
      ${onlyHandle(sql`influencer_handle`)} as "influencerHandle", currency,
      (count(*) filter (where is_order))::integer as orders,
      coalesce(sum(earned_amount), 0)::numeric(24,4)::text as amount,
      (count(*) filter (where earned_amount is null))::integer as unknown
    from earned group by 1, 2, 3, 5`;
}

/** What a deal earned in all months together. */
export type ReplayedDeal = Omit<ReplayedMonth, 'month'>;

/** Adds up the months of each deal and currency. */
export function sumReplay(months: readonly ReplayedMonth[]): readonly ReplayedDeal[] {
  const groups = Map.groupBy(months, ({ dealId, code, currency }) =>
    JSON.stringify([dealId, code, currency]),
  );
  return [...groups.keys()].toSorted().flatMap((key) => {
    const of = groups.get(key) ?? [];
    const [first] = of;
    if (first === undefined) return [];
    const sum = (which: 'today' | 'draft'): Earned => ({
      amount: sumMoney(of.map((one) => one[which].amount)),
      unknown: of.reduce((all, one) => all + one[which].unknown, 0),
    });
    const { month: _month, ...deal } = first;
    return [
      {
        ...deal,
        influencerHandle:
          of.find(({ influencerHandle }) => influencerHandle !== null)?.influencerHandle ?? null,
        orders: sumOrders(of),
        today: sum('today'),
        draft: sum('draft'),
      },
    ];
  });
}
