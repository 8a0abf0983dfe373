import { describeConsent } from '../../src/core/customer.ts';
import type { Block, CountLine, Sum } from '../../src/render/block.ts';
import { describeRefusals, describeSums, formatSum } from '../../src/render/render-blocks.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import {
  attentionToFiles,
  describeHeldFiles,
  describeRead,
  describeRejectedRows,
  describeWarnings,
  listPassedOver,
  warningEvents,
} from '../../src/reports/files/read-files.ts';
import type { CustomerCounts, CustomersReport } from './report.ts';

/** Renders what a run of `identify-customers` did and the state of every customer. */
export const renderCustomers: ReportRenderer<CustomersReport> = {
  did: ({ submitted, lookups }) =>
    `${formatCount(submitted)} submitted${lookups.asked > 0 ? `, ${formatCount(lookups.asked)} looked up` : ''}`,
  sum: sumOfCustomers,
  attention: (report) => [
    ...attentionToFiles(report),
    ...clause(report.counts.refusals.customers, 'customer was refused', 'customers were refused'),
  ],
  events: (report) => [
    ...report.details.consent.map((consent) => ({ event: 'consent', ...consent })),
    ...warningEvents(report),
  ],
  blocks: (summary) => {
    const { report, isPlan = false } = summary;
    return [
      describeRead(summary),
      ...describeDispositions(report, isPlan),
      ...describeConsentColumns(report),
      ...describePassedOver(report.counts),
      ...describeLookups(report, isPlan),
      ...describeHeldFiles(summary, 'nothing in them was submitted'),
      ...describeWarnings(summary),
      ...describeRejectedRows(summary),
      ...describeRefusals(refusalsOf(report)),
      ...describeCustomerSums(report),
    ];
  },
};

function describeDispositions({ counts }: CustomersReport, isPlan: boolean): readonly Block[] {
  const { submitted, already, waiting, refused, unsubscribed, calls } = counts;
  const took = calls.accepted > 0 ? `in ${plural(calls.accepted, 'call')}` : '';
  const toMake = calls.to_make > 0 ? `in ${plural(calls.to_make, 'call')}` : '';
  const lines: readonly CountLine[] = [
    ['submitted', submitted, { note: took, color: 'green', always: true }],
    ['already known', already, { note: 'submitted before this run', always: true }],
    [isPlan ? 'would be submitted' : 'to be submitted', waiting, { note: toMake }],
    ['refused', refused, { note: 'the service refused the address', color: 'yellow' }],
    ['unsubscribed', unsubscribed, { note: 'or refused; not sent' }],
  ];
  const meaning =
    'Submitted means that the service has queued them. The influencers that it identifies appear in the service, under "Your customers", within the hour.';
  return [
    {
      kind: 'counts',
      whole: plural(counts.customers, 'customer'),
      meaning: 'of this brand so far, each counted once',
      lines,
      labelWidth: 20,
      total: counts.customers,
      ...(submitted > 0 ? { note: meaning } : {}),
    },
  ];
}

/**
 * Names the column that was read as consent, so that a wrong column is noticed before a customer who refused
 * is submitted.
 */
function describeConsentColumns({ details }: CustomersReport): readonly Block[] {
  if (details.consent.length === 0) return [];
  const parts = details.consent.map(
    ({ source, ...consent }) => ({ kind: 'item', text: `${source}: ${describeConsent(consent)}` }) as const,
  );
  return [{ kind: 'section', title: 'Consent in the files of this run', parts }];
}

function describePassedOver({ passed_over: passed }: CustomerCounts): readonly Block[] {
  const said = listPassedOver(passed);
  if (said.length === 0) return [];
  const hint =
    passed.unknown === 0
      ? ''
      : ' Customers whose consent is unknown are submitted only if their source says consent: not_recorded, or the job consent: not_refused.';
  return [{ kind: 'text', text: `Rows not submitted, by reason: ${said.join(', ')}.${hint}` }];
}

function describeLookups({ counts, details }: CustomersReport, isPlan: boolean): readonly Block[] {
  const {
    asked,
    influencers,
    no_match: noMatch,
    refused,
    beyond_budget: beyond,
    to_ask: toAsk,
  } = counts.lookups;
  if (details.lookupBudget === null) return [];
  const parts = [
    ...(isPlan ? [] : [`${plural(asked, 'customer')} looked up`]),
    ...(influencers > 0 ? [`${plural(influencers, 'influencer')}`] : []),
    ...(noMatch > 0 ? [`${formatCount(noMatch)} no match`] : []),
    ...(refused > 0 ? [`${formatCount(refused)} refused`] : []),
    ...(toAsk > 0 ? [`${formatCount(toAsk)} ${isPlan ? 'would be looked up' : 'wait'}`] : []),
    ...(beyond > 0
      ? [`${formatCount(beyond)} beyond the budget of ${formatCount(details.lookupBudget)}`]
      : []),
  ];
  const text = `In real time: ${parts.length === 0 ? 'no customer to look up' : parts.join(', ')}.`;
  return [{ kind: 'text', text }];
}

function refusalsOf({ counts, details }: CustomersReport) {
  return {
    count: counts.refusals.customers,
    items: details.refusals.map(({ message, customers }) => `${plural(customers, 'customer')}: ${message}`),
    help: 'The service accepted all other customers of their batches. These are not sent again unless recheck_after is set.',
  };
}

function describeCustomerSums({ counts, sumsAddUp }: CustomersReport): readonly Block[] {
  const equation = formatSum(sumOfCustomers(counts));
  const otherwise = '. Please report this. No customer is submitted twice because of it.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

function sumOfCustomers(counts: CustomerCounts): Sum {
  const { customers, submitted, already, waiting, refused, unsubscribed } = counts;
  return {
    count: customers,
    whole: plural(customers, 'customer'),
    parts: [
      [submitted, 'submitted'],
      [already, 'already known'],
      [waiting, 'to be submitted'],
      [refused, 'refused'],
      [unsubscribed, 'unsubscribed'],
    ],
  };
}
