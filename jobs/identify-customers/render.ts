import { describeConsent } from '../../src/core/customer.ts';
import { type Block, item, section } from '../../src/render/block.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import { describeFiles, listPassedOver } from '../../src/reports/files/read-files.ts';
import type { CustomerCounts, CustomersReport } from './report.ts';

/** Renders what a run of `identify-customers` did and the state of every customer. */
export const renderCustomers: ReportRenderer<CustomersReport> = {
  did: ({ submitted, lookups }) =>
    `${formatCount(submitted)} submitted${lookups.asked > 0 ? `, ${formatCount(lookups.asked)} looked up` : ''}`,
  tally({ customers, submitted, already, waiting, refused, unsubscribed, calls }, { isPlan = false } = {}) {
    const inCalls = (count: number) => clause(count, 'call', 'calls').map((text) => `in ${text}`)[0] ?? '';
    const meaning =
      'Submitted means that the service has queued them. The influencers that it identifies appear in the service, under "Your customers", within the hour.';
    return {
      kind: 'counts',
      count: customers,
      whole: plural(customers, 'customer'),
      meaning: 'of this brand so far, each counted once',
      lines: [
        ['submitted', submitted, { note: inCalls(calls.accepted), color: 'green', always: true }],
        ['already known', already, { note: 'submitted before this run', always: true }],
        [isPlan ? 'would be submitted' : 'to be submitted', waiting, { note: inCalls(calls.to_make) }],
        ['refused', refused, { note: 'the service refused the address', color: 'yellow' }],
        ['unsubscribed', unsubscribed, { note: 'or refused; not sent' }],
      ],
      ...(submitted > 0 ? { note: meaning } : {}),
    };
  },
  attention: ({ counts }) =>
    clause(counts.refusals.customers, 'customer was refused', 'customers were refused'),
  events: ({ details }) => details.consent.map((consent) => ({ event: 'consent', ...consent })),
  blocks(summary) {
    const { report, isPlan = false } = summary;
    const { counts, details } = report;
    return [
      // Names the column that was read as consent, so that a wrong one is noticed before a customer who refused
      // is submitted.
      ...section('Consent in the files of this run', {
        parts: details.consent.map(({ source, ...consent }) =>
          item(`${source}: ${describeConsent(consent)}`),
        ),
      }),
      ...describeUndatedYes(details.undatedYes),
      ...describePassedOver(counts),
      ...describeLookups(report, isPlan),
      ...describeFiles(summary),
      ...section('Refused by the service', {
        count: counts.refusals.customers,
        parts: details.refusals.map(({ message, customers }) =>
          item(`${plural(customers, 'customer')}: ${message}`),
        ),
        help: 'The service accepted all other customers of their batches. These are not sent again unless recheck_after is set.',
      }),
    ];
  },
};

function describeUndatedYes(customers: number): readonly Block[] {
  if (customers === 0) return [];
  const text = `${plural(customers, 'customer')} of this brand said yes without a date, and no elsewhere: the no holds, because it is not known which is newer. If they agreed again, state the yes with its date, later than the no (docs/customers.md).`;
  return [{ kind: 'text', text }];
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
  const { asked, influencers, no_match: noMatch, refused, to_ask: toAsk } = counts.lookups;
  if (details.lookupBudget === null) return [];
  const budget = `beyond the budget of ${formatCount(details.lookupBudget)}`;
  const others = [
    [noMatch, 'no match'],
    [refused, 'refused'],
    [toAsk, isPlan ? 'would be looked up' : 'wait'],
    [counts.lookups.beyond_budget, budget],
  ] as const;
  const parts = [
    ...(isPlan ? [] : [`${plural(asked, 'customer')} looked up`]),
    ...clause(influencers, 'influencer', 'influencers'),
    ...others.flatMap(([count, words]) => clause(count, words, words)),
  ];
  const text = `In real time: ${parts.length === 0 ? 'no customer to look up' : parts.join(', ')}.`;
  return [{ kind: 'text', text }];
}
