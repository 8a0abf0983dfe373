import { wrap } from '../../src/model/text/wrap.ts';
import { renderCodeProblems } from '../../src/present/code-problems.ts';
import { renderDoubleCredits, renderDoubtLine } from '../../src/present/doubts.ts';
import { renderHeldFiles, renderRead, renderRejectedRows } from '../../src/present/read-files.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { formatSum, heading, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { ClicksReport } from './report.ts';

type Summary = RunSummary<ClicksReport>;

/** What a run of `post-clicks` did and where all clicks stand. */
export const renderClicks: ReportRenderer<ClicksReport> = {
  did: ({ posted }) => `${formatCount(posted)} clicks posted`,
  attention: ({ counts, details }) =>
    [
      clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
      clause(details.heldFiles.length, 'file is held', 'files are held'),
      clause(
        details.codeProblems.length,
        'row of codes.csv needs correction',
        'rows of codes.csv need correction',
      ),
      clause(
        counts.refused + counts.held + counts.in_doubt,
        'click needs your attention',
        'clicks need your attention',
      ),
    ].flat(),
  events: ({ details }) => details.codeProblems.map((problem) => ({ event: 'code_problem', ...problem })),
  sections: (summary, screen) => {
    const { report, finished, configOption, isPlan } = summary;
    const { counts, details } = report;
    return [
      renderRead({ ...counts, duplicateFiles: details.duplicateFiles }),
      renderStandings(summary, screen),
      renderHeldFiles(details.heldFiles, 'nothing in them was posted', screen),
      renderRejectedRows(
        {
          rows: details.rejectedRows,
          total: counts.rejected_rows,
          runId: finished.run_id,
          configOption,
          isPlan,
        },
        screen,
      ),
      renderCodeProblems(details.codeProblems, screen),
      renderUnowned(summary, screen),
      renderRefusals(summary, screen),
      renderDoubts(summary, screen),
      renderDoubleCredits(details.doubleCredits, { configOption: configOption ?? '', screen }),
      renderTooMany(summary, screen),
      renderClickSums(report, screen),
    ];
  },
};

type Line = readonly [label: string, clicks: number, note?: string, color?: 'green' | 'yellow' | 'red'];

function renderStandings({ report: { counts }, isPlan = false }: Summary, screen: Screen): string {
  const lines: readonly Line[] = [
    ['posted', counts.posted, `in ${plural(counts.requests, 'request')}`, 'green'],
    ['already posted', counts.already, 'before this run'],
    [isPlan ? 'would be posted' : 'to be posted', counts.ready],
    ['unattributed', counts.unattributed, 'nobody owns the link or code'],
    ['held', counts.held, 'several influencers own the link or code', 'yellow'],
    ['excluded', counts.excluded, 'before start_date'],
    ['refused', counts.refused, 'by the service, see below', 'yellow'],
    ['in doubt', counts.in_doubt, 'see below', 'red'],
    ['written off', counts.written_off],
  ];
  const width = Math.max(formatCount(counts.clicks).length, 5);
  const shown = lines.flatMap(([label, clicks, note = '', color]) => {
    if (clicks === 0 && label !== 'posted' && label !== 'already posted') return [];
    const text = `  ${label.padEnd(16)}${formatCount(clicks).padStart(width)}${note === '' || clicks === 0 ? '' : `  ${note}`}`;
    return [color !== undefined && clicks > 0 ? screen.style(color, text) : text];
  });
  return [
    `${screen.style('bold', plural(counts.clicks, 'click'))} of this job so far, as its files state now:`,
    ...shown,
  ].join('\n');
}

function renderUnowned({ report: { details } }: Summary, screen: Screen): string {
  if (details.unowned.length === 0) return '';
  const rows = details.unowned.map(({ written, reason, clicks }) => [
    written,
    formatCount(clicks),
    reason.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'link or code' }, { title: 'clicks', align: 'right' }, { title: 'why' }] as const;
  const more = details.unownedTotal - details.unowned.length;
  const help =
    'No influencer owned these links and codes on that day, or several did. Fix codes.csv; the next run decides again.';
  return [
    heading('Links and codes that credited nobody', details.unownedTotal, 'by clicks', screen),
    renderTable(columns, rows, { screen, indent: '  ' }),
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderRefusals({ report: { counts, details } }: Summary, screen: Screen): string {
  if (details.refusals.length === 0) return '';
  const lines = details.refusals.map(({ reason, clicks }) =>
    wrap(`${plural(clicks, 'click')}: ${reason}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  const help =
    'Fix what the reason names, often a handle or deal in codes.csv. The next run sends what has changed.';
  return [
    heading('Refused by the service', counts.refused, 'clicks', screen),
    ...lines,
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderDoubts({ report: { details }, configOption = '' }: Summary, screen: Screen): string {
  if (details.doubts.length === 0) return '';
  const why =
    'The service may have added these clicks, but no answer says so. They are not sent again automatically.';
  return [
    heading('Doubts', details.doubts.length, '', screen),
    wrap(why, { width: screen.columns, indent: '  ' }),
    ...details.doubts.map((doubt) => renderDoubtLine(doubt, screen)),
    screen.style('dim', '  # compare each with the clicks of the deal in the service, then settle it'),
    `  npx influencer-sync review${configOption}`,
  ].join('\n');
}

function renderTooMany({ report: { counts, details } }: Summary, screen: Screen): string {
  if (counts.too_many === 0) return '';
  const why =
    'Newer files state fewer clicks than were posted. The service cannot take clicks back, so nothing was sent; each is recorded as an adjustment.';
  return [
    heading(
      'Posted, and no longer stated',
      counts.too_many,
      `${formatCount(details.adjusted)} noted in this run`,
      screen,
    ),
    wrap(why, { width: screen.columns, indent: '  ' }),
  ].join('\n');
}

function renderClickSums({ counts, sumsAddUp }: ClicksReport, screen: Screen): string {
  const equation = formatSum(plural(counts.clicks, 'click'), [
    [counts.attributed, 'attributed'],
    [counts.unattributed, 'unattributed'],
    [counts.held, 'held'],
    [counts.excluded, 'excluded'],
  ]);
  const otherwise = '. Please report this. Nothing is posted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
