import type { ConfigFinding } from '../../src/config/configured-kind.ts';
import { requireCustomerKeys } from '../../src/config/require-settings.ts';
import { checksOf, OF_STORED_FILES } from '../../src/config/source-fields.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { renderCustomers } from './render.ts';
import type { CustomerCounts, CustomersReport } from './report.ts';
import { type IdentifyCustomersSettings, identifyCustomersFields } from './settings.ts';

/** Submits the customers in exports to be identified as influencers, each once per brand. */
export const identifyCustomers: JobKind<IdentifyCustomersSettings, CustomersReport> = {
  kind: 'identify-customers',
  nouns: { items: 'customers', done: 'submitted' },
  fields: identifyCustomersFields,
  readsOfSource: [
    ...OF_STORED_FILES,
    ...(['currency', 'consent', 'missing_columns', 'limits.max_unreadable_share'] as const),
    ...checksOf('customers'),
  ],
  oneReaderHelp:
    'Let one job read each source. For the customers of another brand, add a second source with the same uri.',
  crossCheck: (job, { before }) => oneJobABrand(job, before),
  purpose: ({ consent }) => ({ readFor: 'customers', consent }),
  requireSettings: (config) => void requireCustomerKeys(config),
  // Two runs cannot submit the same customer. Another job may read a source for its orders at the same time.
  leases: ({ brandId, sources }) => [
    `customers of brand:${brandId}`,
    ...sources.map((source) => `customers in source:${source}`),
  ],
  plansInOverlay: true,
  heeds: 'refusals',
  flow: async (run, found) => (await import('./flow.ts')).identifyCustomers(run, found),
  performUnit: async (run, { payload }) => (await import('./spread-batches.ts')).submitShare(run, payload),
  checkFile: async (file, { consent }) => (await import('./doctor.ts')).checkConsent(file, consent),
  diagnostics: async () => (await import('./doctor.ts')).diagnostics,
  fills: ['intake.customer_states', 'intake.lookups', 'bi.influencers_among_customers', 'bi.self_purchases'],
  backfill: {
    needless: (name) =>
      `${name} needs no plan: exports of customers have no dates to divide them by, and submitting a customer twice does no harm. Put the old exports where the job reads, and run it. It submits each customer once:\n  npx influencer-sync run ${name}`,
  },
  starter: {
    reads: 'customers',
    settings: ['consent: by_source # customers who said yes; or required, or not_refused'],
  },
  demo: 'Customers: each new customer is submitted once, to find influencers among them',
  watched: {
    beyondBudget: (counts) => (counts as Partial<CustomerCounts>).lookups?.beyond_budget ?? 0,
    leftForPerson: (counts) => {
      const refused = (counts as Partial<CustomerCounts>).refusals?.customers ?? 0;
      return clause(refused, 'customer was refused', 'customers were refused');
    },
  },
  render: renderCustomers,
};

function* oneJobABrand(
  job: IdentifyCustomersSettings,
  before: readonly IdentifyCustomersSettings[],
): Generator<ConfigFinding> {
  const other = before.find(({ brandId }) => brandId === job.brandId);
  if (other === undefined) return;
  yield {
    path: ['jobs', job.name, 'brand_id'],
    message: `jobs.${job.name} identifies the customers of brand ${job.brandId}, as jobs.${other.name} already does.`,
    help: 'Let one job read all sources of a brand: source can be a list.',
  };
}
