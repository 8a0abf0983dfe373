import { z } from 'zod';
import { camelCased, id, text, yesOrNo } from '../../src/config/fields.ts';
import {
  codesFile,
  firstDay,
  type JobContext,
  type JobSettings,
  sourceNames,
  timing,
} from '../../src/config/job-fields.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import { ATTRIBUTIONS } from '../../src/core/money/conflicts.ts';

export function isAttributeOrders(job: JobSettings): job is AttributeOrdersSettings {
  return job.kind === 'attribute-orders';
}

/** The jobs of a configuration that attribute orders. */
export function attributionJobs({ jobs }: Pick<PipelineConfig, 'jobs'>): readonly AttributeOrdersSettings[] {
  return Object.values(jobs).filter(isAttributeOrders);
}

/** By which settings a job decides about orders if it names no others. */
export const CREDIT_DEFAULTS = {
  revenue: 'total',
  include: null,
  drafts: 'exclude',
  renewals: 'credit',
} as const;

/** What `init` writes: the service cannot correct an order, so what was refunded before is not posted. */
export const STARTER_REVENUE = 'total_less_refunds';

const fields = z.strictObject({
  kind: z.literal('attribute-orders'),
  ...timing,
  source: sourceNames(),
  brand_id: id().describe(
    'Brand that the orders are credited for, unless the order or the code names another.',
  ),
  codes: codesFile('Omit it if the orders name their influencer themselves.'),
  revenue: z
    .enum(['total', 'subtotal', 'total_less_refunds'])
    .default(CREDIT_DEFAULTS.revenue)
    .describe('Which amount of an order is its revenue.'),
  include: z
    .union(
      [
        z.literal('any'),
        z.array(text(60).transform((word) => word.toLowerCase().replace(/\s+/g, '_'))).min(1),
      ],
      { error: 'Give a list of statuses, or any.' },
    )
    .nullable()
    .default(CREDIT_DEFAULTS.include)
    .describe(
      'Statuses of orders to credit, in the words of the shop, or any: every order, whatever its status, and orders without one. Omit it to use the statuses of the layout.',
    ),
  drafts: z
    .enum(['exclude', 'credit'])
    .default(CREDIT_DEFAULTS.drafts)
    .describe(
      'What to do with orders that began as a draft in the shop (Shopify: Source is shopify_draft_order). Some shops use drafts for invoices and replacements, others for sales. credit: treat them like any other order.',
    ),
  renewals: z
    .enum(['exclude', 'credit'])
    .default(CREDIT_DEFAULTS.renewals)
    .describe(
      'What to do with renewals of subscriptions, in exports that mark them (docs/layouts.md). They often repeat the code of the first order. exclude: credit only the first order.',
    ),
  attribution: z
    .enum(ATTRIBUTIONS)
    .default('code')
    .describe(
      'Who is credited if an order has a link of one influencer and a code of another. code: the owner of the code; link: that of the link; first or last: that of the first or the last of all its links and codes (links come before codes, otherwise in the order of the export); hold: no influencer, until you decide. With code, link and hold, an order with codes, or links, of several owners is held as well. docs/money.md has how to try a rule first.',
    ),
  start_date: firstDay(
    'First day, in time_zone, whose orders its runs credit, for example 2026-06-01. Earlier orders are left to `backfill`. Omit it to credit orders of any age.',
  ),
  order_notes: z
    .enum(['ours', 'theirs', 'both'])
    .default('ours')
    .describe(
      'What is sent as order_notes. ours: the reference by which you find the order of a doubt in the service. theirs: the notes of the shop, in the columns that the layout names as notes, masked and cut (docs/ledger.md); an order without any has the reference. both: the reference, then the notes.',
    ),
  sole_channel: yesOrNo()
    .prefault(false)
    .describe(
      'Set it to true once you have checked that nothing else, such as a shop integration of the service, records the orders of this brand. `doctor` then no longer warns.',
    ),
});

export const attributeOrdersFields = fields.transform(
  (file) =>
    ({ name, resolvePath, hasCustomerKeys }: JobContext) => {
      const { source, ...job } = camelCased(file);
      const customersOf = source.some(hasCustomerKeys) ? { customersOf: job.brandId } : {};
      return { ...job, ...customersOf, name, sources: source, codes: resolvePath(job.codes) };
    },
);

export type AttributeOrdersSettings = ReturnType<z.output<typeof attributeOrdersFields>>;
