import { wrap } from '../../src/model/text/wrap.ts';
import { renderDoubleCredits, renderDoubtLine } from '../../src/present/doubts.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import type { Screen } from '../../src/present/screen.ts';
import { formatReasons, formatSum, heading, renderSums } from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import { clause, formatCount, plural } from '../../src/present/text.ts';
import { costOf, type OutreachReport, type ShownInfluencer } from './report.ts';
import type { SubmitOutreachSettings } from './settings.ts';

type Summary = RunSummary<OutreachReport>;

/** What a run of `submit-outreach` did, what it cost, and where all influencers stand. */
export const renderOutreach: ReportRenderer<OutreachReport> = {
  did: ({ submitted }) => `${plural(submitted, 'influencer')} submitted`,
  attention: ({ counts }) =>
    [
      clause(
        counts.waiting.approval,
        'influencer waits for your approval',
        'influencers wait for your approval',
      ),
      clause(
        counts.refused + counts.in_doubt,
        'influencer needs your attention',
        'influencers need your attention',
      ),
    ].flat(),
  events: () => [],
  sections: (summary, screen) => {
    const { report, configOption = '' } = summary;
    return [
      renderStandings(summary, screen),
      renderCredits(summary, screen),
      renderNext(summary, screen),
      renderApproval(summary, screen),
      renderRefusals(report, screen),
      renderDoubts(summary, screen),
      renderDoubleCredits(report.details.doubleCredits, { configOption, screen }),
      renderOutreachSums(report, screen),
    ];
  },
};

/** What a person is asked before anything is sent. */
export function describeApproval(
  { outreachId, name }: SubmitOutreachSettings,
  { wanted, next }: { readonly wanted: number; readonly next: readonly ShownInfluencer[] },
): string {
  const more = wanted - next.length;
  const lines = next.map((one) => `  ${nameOf(one)}`);
  return `${name} would submit ${plural(wanted, 'influencer')} to outreach ${outreachId}, for ${costOf(wanted)} search credits at most:
${[...lines, ...(more > 0 ? [`  and ${formatCount(more)} more`] : [])].join('\n')}
The service may write to them at once. You cannot undo that.
`;
}

function nameOf({ platform, username, userId, followers }: ShownInfluencer): string {
  return `${username ?? userId} on ${platform}${followers === null ? '' : `, ${plural(followers, 'follower')}`}`;
}

type Line = readonly [label: string, influencers: number, note?: string, color?: 'green' | 'yellow' | 'red'];

function renderStandings({ report, isPlan = false }: Summary, screen: Screen): string {
  const { counts, details } = report;
  const { waiting, excluded } = counts;
  const reasons = Object.entries(excluded).map(([reason, orders]) => ({ reason, orders }));
  const known = counts.submitted - counts.added;
  const lines: readonly Line[] = [
    [
      'submitted',
      counts.submitted,
      `in ${plural(counts.requests, 'request')}${known > 0 ? `; ${formatCount(known)} were in the account already` : ''}`,
      'green',
    ],
    ['already submitted', counts.already, 'before this run'],
    [
      isPlan ? 'would be submitted' : 'to be submitted',
      counts.ready,
      `in ${plural(counts.requests_ready, 'request')}, for ${costOf(counts.ready)} credits at most`,
    ],
    ['wait for approval', waiting.approval, `for ${costOf(waiting.approval)} credits at most`, 'yellow'],
    ['left by --limit', waiting.limit, 'for the next run'],
    ['beyond credits', waiting.credits, 'for the next run'],
    ['excluded', Object.values(excluded).reduce((sum, count) => sum + count, 0), formatReasons(reasons)],
    ['refused', counts.refused, 'by the service, see below', 'yellow'],
    ['in doubt', counts.in_doubt, 'see below', 'red'],
    ['written off', counts.written_off],
  ];
  const width = Math.max(formatCount(counts.candidates).length, 5);
  const shown = lines.flatMap(([label, influencers, note = '', color]) => {
    if (influencers === 0 && label !== 'submitted' && label !== 'already submitted') return [];
    const first = `  ${label.padEnd(20)}${formatCount(influencers).padStart(width)}`;
    const isBare = influencers === 0 || note === '';
    const text = isBare
      ? first
      : wrap(note, {
          width: screen.columns,
          firstIndent: `${first}  `,
          indent: ' '.repeat(first.length + 2),
        });
    return [color !== undefined && influencers > 0 ? screen.style(color, text) : text];
  });
  const title = screen.style('bold', plural(counts.candidates, 'influencer'));
  return [`${title} among the customers so far; outreach ${details.outreachId}:`, ...shown].join('\n');
}

function renderCredits({ report: { counts }, isPlan = false }: Summary, screen: Screen): string {
  const { budget, spent, in_doubt: doubtful, left } = counts.credits;
  const risk = counts.in_doubt > 0 && doubtful !== '0.00' ? `, ${doubtful} perhaps (in doubt)` : '';
  const text = isPlan
    ? `Search credits: a run may spend ${budget}; this one would spend ${costOf(counts.ready)} at most.`
    : `Search credits: ${spent} of this run's ${budget} were spent${risk}; ${left} were left.`;
  return wrap(text, { width: screen.columns, indent: '' });
}

function renderNext({ report: { counts, details }, isPlan = false }: Summary, screen: Screen): string {
  if (details.next.length === 0) return '';
  const columns = [
    { title: 'handle' },
    { title: 'platform', cutAt: 'never' },
    { title: 'user id' },
    { title: 'followers', align: 'right' },
  ] as const;
  const rows = details.next.map(({ username, platform, userId, followers }) => [
    username ?? '',
    platform,
    userId,
    followers === null ? '' : formatCount(followers),
  ]);
  const all = counts.ready + counts.waiting.approval;
  const more = all - details.next.length;
  return [
    heading(isPlan ? 'Would be submitted' : 'To be submitted', all, 'most followers first', screen),
    renderTable(columns, rows, { screen, indent: '  ' }),
    ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
  ].join('\n');
}

function renderApproval(
  { report: { counts }, finished, configOption = '' }: Summary,
  screen: Screen,
): string {
  if (counts.waiting.approval === 0) return '';
  const why =
    'Nobody was submitted, because nobody has approved it. Run it with --yes, or set approve: true in the settings of the job.';
  return [
    screen.style('yellow', wrap(why, { width: screen.columns, indent: '' })),
    `  npx influencer-sync run ${finished.job} --yes${configOption}`,
  ].join('\n');
}

function renderRefusals({ counts, details }: OutreachReport, screen: Screen): string {
  if (details.refusals.length === 0) return '';
  const lines = details.refusals.map(({ reason, influencers }) =>
    wrap(`${plural(influencers, 'influencer')}: ${reason}`, {
      width: screen.columns,
      indent: '    ',
      firstIndent: '  ',
    }),
  );
  const again =
    details.triedAgain === 0
      ? ''
      : `One id that the service does not know is enough to refuse a batch. The next run submits ${formatCount(details.triedAgain)} of them again, in batches of a tenth. `;
  const help = `${again}Whoever was refused alone is not submitted again; check outreach_id if all are refused.`;
  return [
    heading('Refused by the service', counts.refused, 'influencers', screen),
    ...lines,
    screen.style('cyan', wrap(help, { width: screen.columns, indent: '  ' })),
  ].join('\n');
}

function renderDoubts({ report: { details }, configOption = '' }: Summary, screen: Screen): string {
  if (details.doubts.length === 0) return '';
  const why =
    'The service may have added these influencers, but no answer says so. They are not sent again automatically.';
  return [
    heading('Doubts', details.doubts.length, '', screen),
    wrap(why, { width: screen.columns, indent: '  ' }),
    ...details.doubts.map((doubt) => renderDoubtLine(doubt, screen)),
    screen.style('dim', '  # check in the service whether the outreach has them, then settle it'),
    `  npx influencer-sync review${configOption}`,
  ].join('\n');
}

function renderOutreachSums({ counts, sumsAddUp }: OutreachReport, screen: Screen): string {
  const { waiting, excluded } = counts;
  const equation = formatSum(plural(counts.candidates, 'influencer'), [
    [counts.submitted, 'submitted'],
    [counts.already, 'already submitted'],
    [counts.ready, 'to be submitted'],
    [waiting.approval + waiting.limit + waiting.credits, 'waiting'],
    [Object.values(excluded).reduce((sum, count) => sum + count, 0), 'excluded'],
    [counts.refused, 'refused'],
    [counts.in_doubt, 'in doubt'],
    [counts.written_off, 'written off'],
  ]);
  const otherwise = '. Please report this. Nobody is submitted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, screen);
}
