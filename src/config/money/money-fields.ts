import { z } from 'zod';
import { numberToText, text, wholeNumber } from '../fields.ts';

/** How statements of earnings are made. */
export const statementsSchema = z
  .strictObject({
    terms: text(500)
      .nullable()
      .default(null)
      .describe(
        'CSV file with rates and fees by deal or code (relative to this file). Omit it if the rates of the service are all that counts.',
      ),
    return_window_days: wholeNumber(0, 3_650)
      .prefault(30)
      .describe('An order counts so many days after it was placed, when it can no longer be returned.'),
    margin_percent: z
      .preprocess(numberToText, z.string().regex(/^(100|\d{1,2}(\.\d{1,4})?)$/, { error: 'percent' }))
      .nullable()
      .default(null)
      .describe(
        'What is left of 100 of net revenue after the goods are paid for, for the return in bi.returns_monthly. Omit it, and the return is unknown.',
      ),
    time_zone: text(100)
      .default('UTC')
      .describe('IANA zone of days and months, for example Europe/Amsterdam.'),
  })
  .prefault({})
  .describe('Statements of what influencers have earned: `npx influencer-sync statement`.');

/** When a difference between our totals and those of the service is worth a look. */
export const reconcileSchema = z
  .strictObject({
    orders_above: wholeNumber(0, 1_000_000)
      .prefault(0)
      .describe('Orders of a deal that may stay unexplained without a notice.'),
    amount_above: z
      .preprocess(numberToText, z.string().regex(/^\d{1,14}(\.\d{1,4})?$/, { error: 'amount' }))
      .default('1')
      .describe('Amount of a deal that may stay unexplained, in the currency of the account.'),
    account_currency: text(10)
      .transform((code) => code.toUpperCase())
      .nullable()
      .default(null)
      .describe("ISO 4217, of the service's sums. Omit it: events of orders say it."),
  })
  .prefault({})
  .describe('What we posted against what the service counts: `npx influencer-sync reconcile`.');
