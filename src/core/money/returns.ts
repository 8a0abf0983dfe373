import type { DecimalText } from '../money.ts';

/** Dimensions by which returns are added up. */
export const RETURN_GROUPS = ['deal', 'creator', 'brand', 'campaign', 'month'] as const;
export type ReturnGroup = (typeof RETURN_GROUPS)[number];

/**
 * Number of deals that are named of those with orders of unknown cost. Each is named once; to sort them within the sums
 * would sort every row of a year.
 */
export const NAMED_DEALS = 5;

/** Reason why a figure is unknown; see docs/money.md. */
export type UnknownReturn = 'rate' | 'products' | 'refunds' | 'margin' | 'customers' | 'exchange';

/** Revenue and cost of a deal, a creator, a brand, a campaign or a month, in one currency. */
export type ReturnSum = {
  /** Id, handle in lower case, or month. Empty if unknown. */
  readonly key: string;
  /** For a deal, its creator. */
  readonly name: string | null;
  /** ISO 4217 currency of all amounts. */
  readonly currency: string;
  readonly orders: number;
  /** Net of refunds and cancellations. Null if an exchange rate or a refund is unknown. */
  readonly netAmount: DecimalText | null;
  /** Commission and fees. Null if a rate, or what was bought or refunded, is unknown. */
  readonly costAmount: DecimalText | null;
  /** The same without the orders for which it is unknown. Null if an exchange rate is unknown. */
  readonly netAtLeast: DecimalText | null;
  readonly costAtLeast: DecimalText | null;
  /** Orders whose net revenue is unknown. They are in no net amount. */
  readonly unvaluedOrders: number;
  /** Orders whose commission is unknown, the `unvaluedOrders` included. They are in no cost. */
  readonly uncostedOrders: number;
  /** Deals of these orders: the first ones by id, one more than are named. */
  readonly uncostedDeals: readonly string[];
  readonly profitAmount: DecimalText | null;
  /** Profit as a percentage of the cost. */
  readonly roiPercent: DecimalText | null;
  readonly netPerCost: DecimalText | null;
  /** A lower bound if `unknownOrders` is above 0. */
  readonly newCustomers: number;
  readonly returningOrders: number;
  readonly unknownOrders: number;
  readonly costPerNewCustomer: DecimalText | null;
  readonly unknown: readonly UnknownReturn[];
  /** Sort key within the currency. */
  readonly rank: DecimalText;
};

/** Customers whose first known order was credited to a deal in a month, and their orders since then. */
export type CustomersWon = {
  /** Month of the first order: `2026-10`. */
  readonly month: string;
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** Empty if unknown. */
  readonly brandId: string;
  /** ISO 4217 currency of all amounts. */
  readonly currency: string;
  readonly newCustomers: number;
  /** Customers who have ordered again since. */
  readonly repeatCustomers: number;
  /**
   * Net revenue within this many days of the first order. Null until that period is over for all of these
   * customers, or if the amount of one of their orders is unknown.
   */
  readonly net30: DecimalText | null;
  readonly net90: DecimalText | null;
  readonly net365: DecimalText | null;
  /** Orders of the month whose customers are unknown. They may have won customers as well. */
  readonly unknownOrders: number;
};

/** Number of days for which orders that creators may have placed themselves are shown. */
export const SELF_PURCHASE_DAYS = 90;

/** A credited order whose customer the service identified as the credited influencer. For review only. */
export type SelfPurchase = {
  readonly source: string;
  readonly orderId: string;
  /** Day in UTC. */
  readonly day: string;
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  readonly currency: string;
  /** Null: unknown. */
  readonly amount: DecimalText | null;
};
