import { wrap } from '../../src/model/text/wrap.ts';
import { renderDoubleCredits, renderDoubtLine } from '../../src/present/doubts.ts';
import { renderHeldFiles, renderRead, renderRejectedRows } from '../../src/present/read-files.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { formatSum, heading, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import type { CreatorPlace, DealsReport } from './report.ts';

type Summary = RunSummary<DealsReport>;

/** What a run of `import-deals` did and where all creators stand. */
export const renderDeals: ReportRenderer<DealsReport> = {
  did: ({ created }) => `${formatCount(created)} deals created`,
  attention: ({ counts, details }) =>
    [
      clause(counts.rejected_rows, 'row was rejected', 'rows were rejected'),
      clause(details.heldFiles.length, 'file is held', 'files are held'),
      clause(
        counts.refused + counts.held + counts.in_doubt,
        'creator needs your attention',
        'creators need your attention',
      ),
      clause(
        counts.notes_refused + counts.updates_refused,
        'note, stage or status was refused',
        'notes, stages and statuses were refused',
      ),
    ].flat(),
  events: () => [],
  sections: (summary, screen) => {
    const { report, finished, configOption, isPlan } = summary;
    const { counts, details } = report;
    return [
      renderRead({ ...counts, duplicateFiles: details.duplicateFiles }),
      renderStandings(summary, screen),
      renderUpdates(summary),
      renderHeldFiles(details.heldFiles, 'no deal of them was created', screen),
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
      renderHeld(report, screen),
      renderDiffering(report, screen),
      renderRefusals(report, screen),
      renderDoubts(summary, screen),
      renderDoubleCredits(details.doubleCredits, { configOption: configOption ?? '', screen }),
      renderCreatorSums(report, screen),
    ];
  },
};

type Line = readonly [label: string, count: number, note?: string, color?: 'green' | 'yellow' | 'red'];

function renderStandings({ report: { counts }, isPlan = false }: Summary, screen: Screen): string {
  const lines: readonly Line[] = [
    ['created', counts.created, 'in this run', 'green'],
    ['created before', counts.already],
    ['known', counts.known, 'they have a deal already'],
    [
      isPlan ? 'would be created' : 'to be created',
      counts.to_create,
      isPlan ? 'unless the service knows a deal of theirs' : '',
    ],
    ['refused', counts.refused, 'by the service, see below', 'yellow'],
    ['in doubt', counts.in_doubt, 'see below', 'red'],
    ['written off', counts.written_off],
    ['held', counts.held, 'see below', 'yellow'],
  ];
  const width = Math.max(formatCount(counts.creators).length, 5);
  const shown = lines.flatMap(([label, count, note = '', color]) => {
    if (count === 0 && label !== 'created') return [];
    const text = `  ${label.padEnd(17)}${formatCount(count).padStart(width)}${note === '' || count === 0 ? '' : `  ${note}`}`;
    return [color !== undefined && count > 0 ? screen.style(color, text) : text];
  });
  return [
    `${screen.style('bold', plural(counts.creators, 'creator'))} of this job so far, as its files state now:`,
    ...shown,
  ].join('\n');
}

/** Notes, stages and statuses: what was sent, and what waits. */
function renderUpdates({ report: { counts }, isPlan = false }: Summary): string {
  const sent = [
    [counts.notes_sent, 'note'],
    [counts.stages_sent, 'stage'],
    [counts.statuses_sent, 'active status', 'active statuses'],
  ] as const;
  const waiting = [
    [counts.notes_waiting, 'note'],
    [counts.updates_waiting, 'stage or status', 'stages and statuses'],
  ] as const;
  const list = (parts: readonly (readonly [number, string, string?])[]) =>
    parts.flatMap(([count, one, many]) => (count === 0 ? [] : [plural(count, one, many)])).join(', ');
  const sentText = list(sent);
  const waitingText = list(waiting);
  return [
    ...(sentText === '' ? [] : [`Sent for deals in this run: ${sentText}.`]),
    ...(waitingText === '' ? [] : [`${isPlan ? 'Would be sent' : 'To be sent'}: ${waitingText}.`]),
  ].join('\n');
}

const HELD_HELP: Readonly<Record<string, string>> = {
  several_deals: 'several deals fit: write the right one into the column deal_id of the row',
  deal_in_doubt: 'a deal of this creator is in doubt: settle it with review',
  no_dealflow: 'name a dealflow_id in the row or in the job',
  deal_not_mirrored: 'the service knows a deal of this handle: run mirror-account, then this job again',
};

function renderHeld({ counts, details }: DealsReport, screen: Screen): string {
  if (details.held.length === 0) return '';
  const rows = details.held.map(({ handle, platform, why }) => [
    handle,
    platform,
    HELD_HELP[why] ?? why.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'creator' }, { title: 'platform' }, { title: 'what to do' }] as const;
  return [
    heading('Held', counts.held, 'no deal is created for them', screen),
    renderTable(columns, rows, { screen, indent: '  ' }),
    ...more(counts.held, details.held),
  ].join('\n');
}

function renderDiffering({ counts, details }: DealsReport, screen: Screen): string {
  if (details.differing.length === 0) return '';
  const rows = details.differing.map(({ handle, dealId, why }) => [
    handle,
    dealId ?? '',
    why.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'creator' }, { title: 'deal' }, { title: 'terms that differ' }] as const;
  const why =
    'The list states other terms than the deal has. The service has no operation that changes them, so nothing was sent: change them on the deal page, or correct the list.';
  return [
    heading('Terms that differ', counts.terms_differ, '', screen),
    renderTable(columns, rows, { screen, indent: '  ' }),
    ...more(counts.terms_differ, details.differing),
    screen.style('cyan', wrap(why, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function more(total: number, shown: readonly CreatorPlace[]): readonly string[] {
  return total > shown.length ? [`  and ${formatCount(total - shown.length)} more`] : [];
}

function renderRefusals({ details }: DealsReport, screen: Screen): string {
  if (details.refusals.length === 0) return '';
  const lines = details.refusals.map(({ what, reason, creators }) =>
    wrap(`${what} of ${plural(creators, 'creator')}: ${reason}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  const total = details.refusals.reduce((sum, { creators }) => sum + creators, 0);
  const help =
    'Fix what the reason names, in the list or in the job. The next run sends what has changed, and refused stages and statuses again.';
  return [
    heading('Refused by the service', total, '', screen),
    ...lines,
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderDoubts({ report: { details }, configOption = '' }: Summary, screen: Screen): string {
  if (details.doubts.length === 0) return '';
  const why =
    'The service may have created these deals or added these notes, but no answer says so. They are not sent again automatically.';
  return [
    heading('Doubts', details.doubts.length, '', screen),
    wrap(why, { width: screen.columns, indent: '  ' }),
    ...details.doubts.map((doubt) => renderDoubtLine(doubt, screen)),
    screen.style('dim', '  # look for each creator in the service, then settle it, with the id of the deal'),
    `  npx influencer-sync review${configOption}`,
  ].join('\n');
}

function renderCreatorSums({ counts, sumsAddUp }: DealsReport, screen: Screen): string {
  const equation = formatSum(plural(counts.creators, 'creator'), [
    [counts.created, 'created'],
    [counts.already, 'created before'],
    [counts.known, 'known'],
    [counts.to_create, 'to be created'],
    [counts.refused, 'refused'],
    [counts.in_doubt, 'in doubt'],
    [counts.written_off, 'written off'],
    [counts.held, 'held'],
  ]);
  const otherwise = '. Please report this; no deal is created twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
