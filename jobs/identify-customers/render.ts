import { describeConsent } from '../../src/model/customer.ts';
import { wrap } from '../../src/model/text/wrap.ts';
import {
  attentionToFiles,
  renderHeldFiles,
  renderRead,
  renderRejectedRows,
} from '../../src/present/read-files.ts';
import type { ReportRenderer } from '../../src/present/report-renderer.ts';
import {
  type CountLine,
  formatSum,
  renderCounts,
  renderItem,
  renderRefusals,
  renderSums,
} from '../../src/present/sections.ts';
import type { Terminal } from '../../src/present/terminal.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { CustomerCounts, CustomersReport } from './report.ts';

/** What a run of `identify-customers` did and where every customer stands. */
export const renderCustomers: ReportRenderer<CustomersReport> = {
  did: ({ submitted, lookups }) =>
    `${formatCount(submitted)} submitted${lookups.asked > 0 ? `, ${formatCount(lookups.asked)} looked up` : ''}`,
  attention: (report) => [
    ...attentionToFiles(report),
    ...clause(report.counts.refusals.customers, 'customer was refused', 'customers were refused'),
  ],
  events: ({ details }) => details.consent.map((consent) => ({ event: 'consent', ...consent })),
  sections: (summary, terminal) => {
    const { report, isPlan = false } = summary;
    return [
      renderRead(summary),
      renderDispositions(report, isPlan, terminal),
      renderConsent(report, terminal),
      renderPassedOver(report.counts, terminal),
      renderLookups(report, isPlan, terminal),
      renderHeldFiles(summary, { consequence: 'nothing in them was submitted', terminal }),
      renderRejectedRows(summary, terminal),
      renderRefusals(refusalsOf(report), terminal),
      renderCustomerSums(report, terminal),
    ];
  },
};

function renderDispositions({ counts }: CustomersReport, isPlan: boolean, terminal: Terminal): string {
  const { submitted, already, waiting, refused, unsubscribed, calls } = counts;
  const took = calls.accepted > 0 ? `in ${plural(calls.accepted, 'call')}` : '';
  const toMake = calls.to_make > 0 ? `in ${plural(calls.to_make, 'call')}` : '';
  const lines: readonly CountLine[] = [
    ['submitted', submitted, { note: took, color: 'green', always: true }],
    ['already known', already, { note: 'submitted before this run', always: true }],
    [isPlan ? 'would be submitted' : 'to be submitted', waiting, { note: toMake }],
    ['refused', refused, { note: 'the service refused the address', color: 'yellow' }],
    ['unsubscribed', unsubscribed, { note: 'never sent' }],
  ];
  const title = terminal.style('bold', plural(counts.customers, 'customer'));
  const meaning =
    'Submitted means that the service has queued them. The influencers that it identifies appear there, under "Your customers", within the hour.';
  return [
    `${title} of this brand so far, each counted once:`,
    ...renderCounts(lines, { labelWidth: 20, total: counts.customers, terminal }),
    ...(submitted > 0
      ? [terminal.style('dim', wrap(meaning, { width: terminal.columns, indent: '  ' }))]
      : []),
  ].join('\n');
}

/** The column that was taken for consent, so that you see a wrong one before a customer who refused is submitted. */
function renderConsent({ details }: CustomersReport, terminal: Terminal): string {
  if (details.consent.length === 0) return '';
  const lines = details.consent.map(({ source, ...consent }) =>
    renderItem(`${source}: ${describeConsent(consent)}`, terminal),
  );
  return ['Consent in the files of this run:', ...lines].join('\n');
}

function renderPassedOver({ passed_over: passed }: CustomerCounts, terminal: Terminal): string {
  const reasons = [
    [passed.no_address, 'without an address'],
    [passed.no_consent, 'without consent'],
    [passed.unsubscribed, 'unsubscribed'],
  ] as const;
  const said = reasons.filter(([rows]) => rows > 0).map(([rows, why]) => `${formatCount(rows)} ${why}`);
  if (said.length === 0) return '';
  return wrap(`Rows skipped: ${said.join(', ')}.`, {
    width: terminal.columns,
    indent: '  ',
    firstIndent: '',
  });
}

function renderLookups({ counts, details }: CustomersReport, isPlan: boolean, terminal: Terminal): string {
  const {
    asked,
    influencers,
    no_match: noMatch,
    refused,
    beyond_budget: beyond,
    to_ask: toAsk,
  } = counts.lookups;
  if (details.lookupBudget === null) return '';
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
  return wrap(`In real time: ${parts.length === 0 ? 'no customer to look up' : parts.join(', ')}.`, {
    width: terminal.columns,
    indent: '  ',
    firstIndent: '',
  });
}

function refusalsOf({ counts, details }: CustomersReport) {
  return {
    count: counts.refusals.customers,
    items: details.refusals.map(({ message, customers }) => `${plural(customers, 'customer')}: ${message}`),
    help: 'The service took all other customers of their batches. These are not sent again unless recheck_after says so.',
  };
}

function renderCustomerSums({ counts, sumsAddUp }: CustomersReport, terminal: Terminal): string {
  const { customers, submitted, already, waiting, refused, unsubscribed } = counts;
  const equation = formatSum(plural(customers, 'customer'), [
    [submitted, 'submitted'],
    [already, 'already known'],
    [waiting, 'to be submitted'],
    [refused, 'refused'],
    [unsubscribed, 'unsubscribed'],
  ]);
  const otherwise = '. Please report this. No customer is submitted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, terminal);
}
