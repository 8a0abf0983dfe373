import { z } from 'zod';
import type { JobContext } from '../../src/config/configured-kind.ts';
import { anyNumber, text, wholeNumber, yesOrNo } from '../../src/config/fields.ts';
import { sourceNames, timing, toJobBase } from '../../src/config/job-fields.ts';
import type { JobSettings } from '../../src/core/config.ts';
import type { ConsentRule } from '../../src/core/customer.ts';

export type IdentifyCustomersSettings = JobSettings & {
  readonly kind: 'identify-customers';
  /** A whole number, because the service requires one. */
  readonly brandId: string;
  /** Which customers may be submitted, by their consent. */
  readonly consent: ConsentRule;
  /** Maximum number of addresses in one call. */
  readonly batchSize: number;
  /** Label of the service's web application that is sent with each call. Null sends none. */
  readonly sourceType: string | null;
  /**
   * Number of days after which a customer in a new file is submitted, or looked up, again. Null means never.
   */
  readonly recheckAfterDays: number | null;
  /** Which customers are also looked up in real time. Null means none. */
  readonly lookup: LookupSettings | null;
};

/**
 * Which customers are looked up in real time: those who meet at least one of the three conditions, or all if
 * no condition is set.
 */
export type LookupSettings = {
  /** Maximum number of look-ups in one run. */
  readonly budget: number;
  /** Customers with at least this number of orders. */
  readonly minOrders: number | null;
  /** Customers who spent at least this amount, in the currency of the export. */
  readonly minSpent: number | null;
  /** Customers who have used a discount code. */
  readonly withCode: boolean;
};

export function isIdentifyCustomers(job: JobSettings): job is IdentifyCustomersSettings {
  return job.kind === 'identify-customers';
}

/** Default budget of a run. At four look-ups a second it takes less than a minute. */
const DEFAULT_BUDGET = 200;

const lookup = z.strictObject({
  mode: z.literal('real_time').default('real_time').describe('identify_influencers_real_time.'),
  budget: wholeNumber(1, 1_000_000).prefault(DEFAULT_BUDGET).describe('Maximum look-ups in one run.'),
  min_orders: wholeNumber(1, 1_000_000)
    .nullable()
    .default(null)
    .describe('Customers with at least this many orders, if the export says.'),
  min_spent: anyNumber(0, 1_000_000_000)
    .nullable()
    .default(null)
    .describe('Customers who have spent at least this much, in the currency of the export.'),
  with_code: yesOrNo()
    .prefault(false)
    .describe('Customers who have used a discount code, according to exports of orders.'),
});

const fields = z.strictObject({
  kind: z.literal('identify-customers'),
  ...timing,
  source: sourceNames('a source of customers or orders'),
  brand_id: wholeNumber(0, Number.MAX_SAFE_INTEGER).describe('Brand that the customers are identified for.'),
  consent: z
    .enum(['by_source', 'required', 'not_refused'])
    .default('by_source')
    .describe(
      'Customers who said yes are submitted, and customers who said no never. by_source: customers whose consent is unknown only from sources with consent: not_recorded. required: none of them. not_refused: all of them.',
    ),
  batch_size: wholeNumber(1, 10_000).prefault(500).describe('Maximum addresses in one call.'),
  source_type: text(100)
    .nullable()
    .default(null)
    .describe('Label that the service shows with them. Omit it to send none.'),
  recheck_after: anyNumber(0, 36_500)
    .nullable()
    .default(null)
    .describe(
      'Days after which a customer in a new file is submitted, or looked up, again. Omit it to do that never.',
    ),
  lookup: z
    .union([z.enum(['none', 'real_time']), lookup])
    .default('none')
    .describe(
      'Customers to look up in real time as well: none, real_time (all, within the budget), or conditions, one of which must hold.',
    ),
});

/** Parses the settings of such a job in `pipeline.yaml`. */
export const identifyCustomersFields = fields.transform(
  (job) =>
    (context: JobContext): IdentifyCustomersSettings => ({
      ...toJobBase(job, context),
      sources: job.source,
      brandId: String(job.brand_id),
      customersOf: String(job.brand_id),
      consent: job.consent,
      batchSize: job.batch_size,
      sourceType: job.source_type,
      recheckAfterDays: job.recheck_after,
      lookup: toLookup(job.lookup),
    }),
);

function toLookup(file: z.output<typeof fields>['lookup']): LookupSettings | null {
  if (file === 'none') return null;
  if (file === 'real_time')
    return { budget: DEFAULT_BUDGET, minOrders: null, minSpent: null, withCode: false };
  const { budget, min_orders: minOrders, min_spent: minSpent, with_code: withCode } = file;
  return { budget, minOrders, minSpent, withCode };
}
