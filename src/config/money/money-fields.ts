import { z } from 'zod';
import { exactNumber, text, wholeNumber } from '../fields.ts';

/** Section `statements`: how earnings are calculated. */
export const statementsSchema = z
  .strictObject({
    terms: text(500)
      .nullable()
      .default(null)
      .describe(
        'CSV file with rates and fees by deal or code (relative to this file). Omit it to use only the rates of the service.',
      ),
    return_window_days: wholeNumber(0, 3_650)
      .prefault(30)
      .describe('Days after which an order counts, because it can no longer be returned.'),
    margin_percent: exactNumber(/^(100|[1-9]\d?(\.\d{1,4})?|0(\.0{1,4})?)$/, 'percent')
      .nullable()
      .default(null)
      .describe(
        'Share of the net revenue that remains after the cost of goods, in percent: 0, or a number from 1 to 100. bi.returns_monthly needs it for profit and return. Without it, they are unknown.',
      ),
    reporting_currency: text(10)
      .transform((code) => code.toUpperCase())
      .nullable()
      .default(null)
      .describe(
        'Currency (ISO 4217) into which amounts are converted for totals. The amounts in their own currencies remain. Omit it to convert nothing.',
      ),
    fx: text(500)
      .nullable()
      .default(null)
      .describe(
        'CSV file with exchange rates by day (relative to this file): day, from, to, rate. It needs reporting_currency. An amount is converted only if the rate of its day is known.',
      ),
    time_zone: text(100)
      .default('UTC')
      .describe('IANA zone of days and months, for example Europe/Amsterdam.'),
  })
  .prefault({})
  .describe('Statements of what influencers have earned: `npx influencer-sync statement`.');

/** Section `reconcile`: which differences between this project's totals and the service's are reported. */
export const reconcileSchema = z
  .strictObject({
    orders_above: wholeNumber(0, 1_000_000)
      .prefault(0)
      .describe('Number of orders of a deal that may stay unexplained without a notice.'),
    amount_above: exactNumber(/^\d{1,14}(\.\d{1,4})?$/, 'amount')
      .default('1')
      .describe('Amount of a deal that may stay unexplained, in the currency of the account.'),
    account_currency: text(10)
      .transform((code) => code.toUpperCase())
      .nullable()
      .default(null)
      .describe("Currency of the service's sums (ISO 4217). If you omit it, it comes from events of orders."),
  })
  .prefault({})
  .describe(
    'Comparison of the orders that were posted with those that the service counts: `npx influencer-sync reconcile`.',
  );
