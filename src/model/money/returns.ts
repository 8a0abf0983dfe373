import type { DecimalText } from '../order.ts';

/** What returns are added up by. */
export const RETURN_GROUPS = ['deal', 'creator', 'brand', 'campaign', 'month'] as const;
export type ReturnGroup = (typeof RETURN_GROUPS)[number];

/** Why a number is unknown: see docs/money.md. */
export type UnknownReturn = 'rate' | 'margin' | 'customers' | 'exchange';

/** What a deal, a creator, a brand, a campaign or a month brought and cost, in one currency. */
export type ReturnSum = {
  /** Id, handle in small letters or month; empty where it is unknown. */
  readonly key: string;
  /** Of a deal its creator. */
  readonly name: string | null;
  /** ISO 4217, of all amounts. */
  readonly currency: string;
  readonly orders: number;
  /** Net of refunds and cancellations; null: an exchange rate is unknown. */
  readonly netAmount: DecimalText | null;
  /** Commission and fees; null: a rate is unknown. */
  readonly costAmount: DecimalText | null;
  readonly profitAmount: DecimalText | null;
  /** Profit in percent of the cost. */
  readonly roiPercent: DecimalText | null;
  readonly netPerCost: DecimalText | null;
  /** A lower bound where `unknownOrders` is above 0. */
  readonly newCustomers: number;
  readonly returningOrders: number;
  readonly unknownOrders: number;
  readonly costPerNewCustomer: DecimalText | null;
  readonly unknown: readonly UnknownReturn[];
  /** By what it is sorted, within its currency. */
  readonly rank: DecimalText;
};

/** Customers whose first known order was credited to a deal in a month, and what they have ordered since. */
export type CustomersWon = {
  /** `2026-10`. */
  readonly month: string;
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** Empty where it is unknown. */
  readonly brandId: string;
  /** ISO 4217, of all amounts. */
  readonly currency: string;
  readonly newCustomers: number;
  /** Ordered again since. */
  readonly repeatCustomers: number;
  /** What they are worth in so many days; null until those are over for all of them. */
  readonly net30: DecimalText | null;
  readonly net90: DecimalText | null;
  readonly net365: DecimalText | null;
  /** Orders of the month that may have won customers, too: nobody knows. */
  readonly unknownOrders: number;
};
