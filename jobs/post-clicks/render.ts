import { attentionToCodes, codeProblemEvents, renderCodeProblems } from '../../src/present/code-problems.ts';
import { doubtsListed, renderDoubleCredits, renderDoubtSection } from '../../src/present/doubts.ts';
import {
  attentionToFiles,
  renderHeldFiles,
  renderRead,
  renderRejectedRows,
} from '../../src/present/read-files.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import {
  type CountLine,
  formatSum,
  renderCounts,
  renderRefusals,
  renderSection,
  renderSums,
} from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import type { Terminal } from '../../src/present/terminal.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { ClicksReport } from './report.ts';

type Summary = RunSummary<ClicksReport>;

/** What a run of `post-clicks` did and where all clicks stand. */
export const renderClicks: ReportRenderer<ClicksReport> = {
  did: ({ posted }) => `${formatCount(posted)} clicks posted`,
  attention: (report) => {
    const { refused, held, in_doubt: doubts } = report.counts;
    return [
      ...attentionToFiles(report),
      ...attentionToCodes(report.details.codeProblems),
      ...clause(refused + held + doubts, 'click needs your attention', 'clicks need your attention'),
    ];
  },
  events: ({ details }) => codeProblemEvents(details.codeProblems),
  sections: (summary, terminal) => {
    const { report, configOption } = summary;
    const { details } = report;
    return [
      renderRead(summary),
      renderDispositions(summary, terminal),
      renderHeldFiles(summary, { consequence: 'nothing in them was posted', terminal }),
      renderRejectedRows(summary, terminal),
      renderCodeProblems(details.codeProblems, terminal),
      renderUnowned(report, terminal),
      renderRefusals(refusalsOf(report), terminal),
      renderDoubtSection({ ...doubtsListed(report), ...DOUBTS, configOption }, terminal),
      renderDoubleCredits(details.doubleCredits, { configOption, terminal }),
      renderTooMany(report, terminal),
      renderClickSums(report, terminal),
    ];
  },
};

function renderDispositions({ report: { counts }, isPlan = false }: Summary, terminal: Terminal): string {
  const requests = `in ${plural(counts.requests, 'request')}`;
  const lines: readonly CountLine[] = [
    ['posted', counts.posted, { note: requests, color: 'green', always: true }],
    ['already posted', counts.already, { note: 'before this run', always: true }],
    [isPlan ? 'would be posted' : 'to be posted', counts.ready],
    ['unattributed', counts.unattributed, { note: 'no influencer owns the link or code' }],
    ['held', counts.held, { note: 'several influencers own the link or code', color: 'yellow' }],
    ['excluded', counts.excluded, { note: 'before start_date' }],
    ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
    ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
    ['written off', counts.written_off],
  ];
  return [
    `${terminal.style('bold', plural(counts.clicks, 'click'))} of this job so far, as its files state now:`,
    ...renderCounts(lines, { labelWidth: 16, total: counts.clicks, terminal }),
  ].join('\n');
}

function renderUnowned({ details }: ClicksReport, terminal: Terminal): string {
  if (details.unowned.length === 0) return '';
  const rows = details.unowned.map(({ written, reason, clicks }) => [
    written,
    formatCount(clicks),
    reason.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'link or code' }, { title: 'clicks', align: 'right' }, { title: 'why' }] as const;
  return renderSection(
    {
      title: 'Links and codes that credited nobody',
      count: details.unownedTotal,
      note: 'by clicks',
      lines: [renderTable(columns, rows, { terminal, indent: '  ' })],
      shown: rows.length,
      help: 'No influencer owned these links and codes on that day, or several did. Fix codes.csv; the next run decides again.',
    },
    terminal,
  );
}

function refusalsOf({ counts, details }: ClicksReport) {
  return {
    count: counts.refused,
    note: 'clicks',
    items: details.refusals.map(({ reason, clicks }) => `${plural(clicks, 'click')}: ${reason}`),
    help: 'Fix what the reason names, often a handle or deal in codes.csv. The next run sends what has changed.',
  };
}

const DOUBTS = {
  why: 'The service may have added these clicks, but no answer says so.',
  todo: 'compare each with the clicks of the deal in the service, then settle it',
};

function renderTooMany({ counts, details }: ClicksReport, terminal: Terminal): string {
  if (counts.too_many === 0) return '';
  return renderSection(
    {
      title: 'Posted, and no longer stated',
      count: counts.too_many,
      note: `${formatCount(details.adjusted)} noted in this run`,
      why: 'Newer files state fewer clicks than were posted. The service cannot take clicks back, so nothing was sent; each is recorded as an adjustment.',
    },
    terminal,
  );
}

function renderClickSums({ counts, sumsAddUp }: ClicksReport, terminal: Terminal): string {
  const equation = formatSum(plural(counts.clicks, 'click'), [
    [counts.attributed, 'attributed'],
    [counts.unattributed, 'unattributed'],
    [counts.held, 'held'],
    [counts.excluded, 'excluded'],
  ]);
  const otherwise = '. Please report this. Nothing is posted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, terminal);
}
