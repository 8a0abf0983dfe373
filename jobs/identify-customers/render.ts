import { describeConsent } from '../../src/model/contact.ts';
import { wrap } from '../../src/model/text/wrap.ts';
import { renderHeldFiles, renderRead, renderRejectedRows } from '../../src/present/read-files.ts';
import type { ReportRenderer } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { formatSum, heading, renderSums } from '../../src/present/sections.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { CustomerCounts, CustomersReport } from './report.ts';

/** What a run of `identify-customers` did and where every customer stands. */
export const renderCustomers: ReportRenderer<CustomersReport> = {
  did: ({ submitted, lookups }) =>
    `${formatCount(submitted)} submitted${lookups.asked > 0 ? `, ${formatCount(lookups.asked)} looked up` : ''}`,
  attention: ({ counts, details }) =>
    [
      clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
      clause(details.heldFiles.length, 'file is held', 'files are held'),
      clause(counts.refusals.contacts, 'customer was refused', 'customers were refused'),
    ].flat(),
  events: ({ details }) => details.consent.map((consent) => ({ event: 'consent', ...consent })),
  sections: ({ finished, report, configOption, isPlan = false }, screen) => [
    renderRead({ ...report.counts, duplicateFiles: report.details.duplicateFiles }),
    renderStandings(report, isPlan, screen),
    renderConsent(report, screen),
    renderPassedOver(report.counts, screen),
    renderLookups(report, isPlan, screen),
    renderHeldFiles(report.details.heldFiles, 'nothing in them was submitted', screen),
    renderRejectedRows(
      {
        rows: report.details.rejectedRows,
        total: report.counts.rejected_rows,
        runId: finished.run_id,
        configOption,
        isPlan,
      },
      screen,
    ),
    renderRefusals(report, screen),
    renderCustomerSums(report, screen),
  ],
};

type Line = readonly [label: string, count: number, note: string, color?: 'green' | 'yellow'];

function renderStandings({ counts }: CustomersReport, isPlan: boolean, screen: Screen): string {
  const { submitted, already, waiting, refused, unsubscribed, calls } = counts;
  const took = calls.accepted > 0 ? `in ${plural(calls.accepted, 'call')}` : '';
  const toMake = calls.to_make > 0 ? `in ${plural(calls.to_make, 'call')}` : '';
  const lines: readonly Line[] = [
    ['submitted', submitted, took, 'green'],
    ['already known', already, 'submitted before this run'],
    [isPlan ? 'would be submitted' : 'to be submitted', waiting, toMake],
    ['refused', refused, 'the service refused the address', 'yellow'],
    ['unsubscribed', unsubscribed, 'never sent'],
  ];
  const width = Math.max(formatCount(counts.customers).length, 5);
  const shown = lines.flatMap(([label, count, note, color]) => {
    if (count === 0 && label !== 'submitted' && label !== 'already known') return [];
    const text = `  ${label.padEnd(20)}${formatCount(count).padStart(width)}${note === '' || count === 0 ? '' : `  ${note}`}`;
    return [color !== undefined && count > 0 ? screen.style(color, text) : text];
  });
  const title = screen.style('bold', plural(counts.customers, 'customer'));
  const meaning =
    'Submitted means that the service has queued them. The influencers that it identifies appear there, under "Your customers", within the hour.';
  return [
    `${title} of this brand so far, each counted once:`,
    ...shown,
    ...(submitted > 0 ? [screen.style('dim', wrap(meaning, { width: screen.columns, indent: '  ' }))] : []),
  ].join('\n');
}

/** The column that was taken for consent, so that a wrong one is seen before anybody is submitted who refused. */
function renderConsent({ details }: CustomersReport, screen: Screen): string {
  if (details.consent.length === 0) return '';
  const lines = details.consent.map(({ source, ...consent }) =>
    wrap(`${source}: ${describeConsent(consent)}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  return ['Consent in the files of this run:', ...lines].join('\n');
}

function renderPassedOver({ passed_over: passed }: CustomerCounts, screen: Screen): string {
  const reasons = [
    [passed.no_address, 'without an address'],
    [passed.no_consent, 'without consent'],
    [passed.unsubscribed, 'unsubscribed'],
  ] as const;
  const said = reasons.filter(([rows]) => rows > 0).map(([rows, why]) => `${formatCount(rows)} ${why}`);
  if (said.length === 0) return '';
  return wrap(`Rows skipped: ${said.join(', ')}.`, {
    width: screen.columns,
    indent: '  ',
    firstIndent: '',
  });
}

function renderLookups({ counts, details }: CustomersReport, isPlan: boolean, screen: Screen): string {
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
  return wrap(`In real time: ${parts.length === 0 ? 'nobody to look up' : parts.join(', ')}.`, {
    width: screen.columns,
    indent: '  ',
    firstIndent: '',
  });
}

function renderRefusals({ counts, details }: CustomersReport, screen: Screen): string {
  const { contacts } = counts.refusals;
  if (contacts === 0) return '';
  const lines = details.refusals.map(({ message, contacts: count }) =>
    wrap(`${plural(count, 'customer')}: ${message}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  const help =
    'The service took all other customers of their batches. These are not sent again unless recheck_after says so.';
  return [
    heading('Refused by the service', contacts, '', screen),
    ...lines,
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderCustomerSums({ counts, sumsAddUp }: CustomersReport, screen: Screen): string {
  const { customers, submitted, already, waiting, refused, unsubscribed } = counts;
  const equation = formatSum(plural(customers, 'customer'), [
    [submitted, 'submitted'],
    [already, 'already known'],
    [waiting, 'to be submitted'],
    [refused, 'refused'],
    [unsubscribed, 'unsubscribed'],
  ]);
  const otherwise = '. Please report this. Nobody is submitted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
