import type { RuleSum } from '../../core/money/conflicts.ts';
import type { DealPayout, ReconciledDeal } from '../../core/money/reconciliation.ts';
import {
  type CustomersWon,
  type ReturnSum,
  SELF_PURCHASE_DAYS,
  type SelfPurchase,
} from '../../core/money/returns.ts';
import { monthsUntil } from '../../core/time/month.ts';
import type { Database } from '../../db/connect.ts';
import { compareRules } from './list-conflicts.ts';
import { listPayouts } from './list-payouts.ts';
import { findNewestMonth, listCustomersWon, listReturns, listSelfPurchases } from './list-returns.ts';
import { type FoundInfluencer, listInfluencers } from './read-customers.ts';
import { listReconciled } from './reconcile-deals.ts';

/** The first rows of a list. */
export type FirstRows<Row> = { readonly rows: readonly Row[]; readonly hasMore: boolean };

/** What the page of a run shows about money. A part is null if runs of this kind do not change it. */
export type MoneyOverview = {
  /** Month of `returns` and `conflicts`, such as `2026-10`: the newest with orders. */
  readonly month: string;
  readonly returns: FirstRows<ReturnSum> | null;
  /** First of the months of `won`. */
  readonly wonFrom: string;
  readonly won: FirstRows<CustomersWon> | null;
  readonly selfPurchases: FirstRows<SelfPurchase> | null;
  /** Influencers among the customers who have no deal, those with the most followers first. */
  readonly influencers: FirstRows<FoundInfluencer> | null;
  /** As of the last publication of the mirror. */
  readonly reconciled: FirstRows<ReconciledDeal> | null;
  /** Of closed statements and the newest totals, the largest differences first. */
  readonly payouts: FirstRows<DealPayout> | null;
  readonly conflicts: FirstRows<RuleSum> | null;
};

const SHOWN_ROWS = 10;
const MONTHS_OF_A_YEAR = 12;

/**
 * Reads what the page of a run shows about money, from sums of the last refresh.
 *
 * @param options.fills what runs of the kind fill (`JobKind.fills`).
 * @param options.accountCurrency the configured currency of the service's totals.
 */
export async function readMoneyOverview(
  db: Database,
  {
    fills,
    accountCurrency,
    now,
  }: { readonly fills: readonly string[]; readonly accountCurrency: string | null; readonly now: Date },
): Promise<MoneyOverview> {
  const month = (await findNewestMonth(db)) ?? now.toISOString().slice(0, 7);
  const [wonFrom = month] = monthsUntil(month, MONTHS_OF_A_YEAR);
  const ofMonth = { from: month, to: month };
  const limit = SHOWN_ROWS + 1;
  // One at a time, because a run may have a single connection.
  const part = async <Row>(views: readonly string[], read: () => Promise<readonly Row[]>) => {
    if (!views.some((view) => fills.includes(view))) return null;
    const rows = await read();
    return { rows: rows.slice(0, SHOWN_ROWS), hasMore: rows.length > SHOWN_ROWS };
  };
  return {
    month,
    returns: await part(['bi.returns_monthly'], () => listReturns(db, { by: 'deal', ...ofMonth, limit })),
    wonFrom,
    won: await part(['bi.customer_cohorts'], () =>
      listCustomersWon(db, { from: wonFrom, to: month, areMostFirst: true, limit }),
    ),
    selfPurchases: await part(['bi.self_purchases'], () =>
      listSelfPurchases(db, { days: SELF_PURCHASE_DAYS, limit }),
    ),
    influencers: await part(['bi.influencers_among_customers'], () =>
      listInfluencers(db, { limit, isWithoutDeal: true }),
    ),
    // A run changes one of its two sides: the posted orders, or the totals of the service.
    reconciled: await part(['bi.orders_attributed', 'bi.reconciliation'], () =>
      listReconciled(db, { limit }),
    ),
    // The other side changes when a person closes a statement.
    payouts: await part(['bi.reconciliation'], () => listPayouts(db, { accountCurrency, limit })),
    conflicts: await part(['bi.conflicts'], () => compareRules(db, { ...ofMonth, limit })),
  };
}
