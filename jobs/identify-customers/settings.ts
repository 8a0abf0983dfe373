import { z } from 'zod';
import { anyNumber, camelCased, optional, text, wholeNumber, yesOrNo } from '../../src/config/fields.ts';
import { type JobContext, sourceNames, timing } from '../../src/config/job-fields.ts';

/** Default budget of a run. At four look-ups a second it takes less than a minute. */
const DEFAULT_BUDGET = 200;

const lookup = z.strictObject({
  mode: z.literal('real_time').default('real_time').describe('identify_influencers_real_time.'),
  budget: wholeNumber(1, 1_000_000).prefault(DEFAULT_BUDGET).describe('Maximum look-ups in one run.'),
  min_orders: optional(wholeNumber(1, 1_000_000)).describe(
    'Customers with at least this many orders, if the export says.',
  ),
  min_spent: optional(anyNumber(0, 1_000_000_000)).describe(
    'Customers who have spent at least this much, in the currency of the export.',
  ),
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
  source_type: optional(text(100)).describe('Label that the service shows with them. Omit it to send none.'),
  recheck_after: optional(anyNumber(0, 36_500)).describe(
    'Days after which a customer in a new file is submitted, or looked up, again. Omit it to do that never.',
  ),
  lookup: z
    .union([z.enum(['none', 'real_time']), lookup])
    .default('none')
    .describe(
      'Customers to look up in real time as well: none, real_time (all, within the budget), or conditions, one of which must hold.',
    ),
});

export const identifyCustomersFields = fields.transform((file) => ({ name }: JobContext) => {
  const { source, recheckAfter: recheckAfterDays, ...job } = camelCased(file);
  const brandId = String(job.brandId);
  return {
    ...job,
    name,
    sources: source,
    brandId,
    customersOf: brandId,
    recheckAfterDays,
    lookup: toLookup(file.lookup),
  };
});

export type IdentifyCustomersSettings = ReturnType<z.output<typeof identifyCustomersFields>>;

/**
 * Which customers are looked up in real time: those who meet at least one of the three conditions, or all if
 * no condition is set. Null: none.
 */
function toLookup(file: z.output<typeof fields>['lookup']) {
  if (file === 'none') return null;
  const { mode: _mode, ...given } = file === 'real_time' ? lookup.parse({}) : file;
  return camelCased(given);
}

export type LookupSettings = NonNullable<IdentifyCustomersSettings['lookup']>;
