import { wrap } from '../../src/model/text/wrap.ts';
import { doubtsListed, renderDoubleCredits, renderDoubtSection } from '../../src/present/doubts.ts';
import type { ReportRenderer, RunSummary } from '../../src/present/report-renderer.ts';
import {
  andMore,
  type CountLine,
  formatReasons,
  formatSum,
  renderCounts,
  renderRefusals,
  renderSection,
  renderSums,
} from '../../src/present/sections.ts';
import { renderTable } from '../../src/present/table.ts';
import type { Terminal } from '../../src/present/terminal.ts';
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
  sections: (summary, terminal) => {
    const { report, configOption } = summary;
    return [
      renderDispositions(summary, terminal),
      renderCredits(summary, terminal),
      renderNext(summary, terminal),
      renderApproval(summary, terminal),
      renderRefusals(refusalsOf(report), terminal),
      renderDoubtSection({ ...doubtsListed(report), ...DOUBTS, configOption }, terminal),
      renderDoubleCredits(report.details.doubleCredits, { configOption, terminal }),
      renderOutreachSums(report, terminal),
    ];
  },
};

/** What a person is asked before anything is sent. */
export function describeApproval(
  { outreachId, name }: SubmitOutreachSettings,
  { wanted, next }: { readonly wanted: number; readonly next: readonly ShownInfluencer[] },
): string {
  const lines = next.map((one) => `  ${nameOf(one)}`);
  return `${name} would submit ${plural(wanted, 'influencer')} to outreach ${outreachId}, for ${costOf(wanted)} search credits at most:
${[...lines, ...andMore(wanted - next.length)].join('\n')}
The service may write to them at once. You cannot undo that.
`;
}

function nameOf({ platform, username, userId, followers }: ShownInfluencer): string {
  return `${username ?? userId} on ${platform}${followers === null ? '' : `, ${plural(followers, 'follower')}`}`;
}

function renderDispositions({ report, isPlan = false }: Summary, terminal: Terminal): string {
  const { counts, details } = report;
  const { waiting, excluded } = counts;
  const reasons = Object.entries(excluded).map(([reason, orders]) => ({ reason, orders }));
  const known = counts.submitted - counts.added;
  const requests = `in ${plural(counts.requests, 'request')}${known > 0 ? `; ${formatCount(known)} were in the account already` : ''}`;
  const cost = `in ${plural(counts.requests_ready, 'request')}, for ${costOf(counts.ready)} credits at most`;
  const lines: readonly CountLine[] = [
    ['submitted', counts.submitted, { note: requests, color: 'green', always: true }],
    ['already submitted', counts.already, { note: 'before this run', always: true }],
    [isPlan ? 'would be submitted' : 'to be submitted', counts.ready, { note: cost }],
    [
      'wait for approval',
      waiting.approval,
      { note: `for ${costOf(waiting.approval)} credits at most`, color: 'yellow' },
    ],
    ['left by --limit', waiting.limit, { note: 'for the next run' }],
    ['beyond credits', waiting.credits, { note: 'for the next run' }],
    ['excluded', sumOf(excluded), { note: formatReasons(reasons) }],
    ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
    ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
    ['written off', counts.written_off],
  ];
  const shown = renderCounts(lines, { labelWidth: 20, total: counts.candidates, terminal });
  const title = terminal.style('bold', plural(counts.candidates, 'influencer'));
  return [`${title} among the customers so far; outreach ${details.outreachId}:`, ...shown].join('\n');
}

function renderCredits({ report: { counts }, isPlan = false }: Summary, terminal: Terminal): string {
  const { budget, spent, in_doubt: doubtful, left } = counts.credits;
  const risk = counts.in_doubt > 0 && doubtful !== '0.00' ? `, ${doubtful} perhaps (in doubt)` : '';
  const text = isPlan
    ? `Search credits: a run may spend ${budget}; this one would spend ${costOf(counts.ready)} at most.`
    : `Search credits: ${spent} of this run's ${budget} were spent${risk}; ${left} were left.`;
  return wrap(text, { width: terminal.columns, indent: '' });
}

function renderNext({ report: { counts, details }, isPlan = false }: Summary, terminal: Terminal): string {
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
  return renderSection(
    {
      title: isPlan ? 'Would be submitted' : 'To be submitted',
      count: counts.ready + counts.waiting.approval,
      note: 'most followers first',
      lines: [renderTable(columns, rows, { terminal, indent: '  ' })],
      shown: rows.length,
    },
    terminal,
  );
}

function renderApproval(
  { report: { counts }, finished, configOption = '' }: Summary,
  terminal: Terminal,
): string {
  if (counts.waiting.approval === 0) return '';
  const why =
    'Nothing was submitted, because this needs your approval. Run it with --yes, or set approve: true in the settings of the job.';
  return [
    terminal.style('yellow', wrap(why, { width: terminal.columns, indent: '' })),
    `  npx influencer-sync run ${finished.job} --yes${configOption}`,
  ].join('\n');
}

function refusalsOf({ counts, details }: OutreachReport) {
  const again =
    details.triedAgain === 0
      ? ''
      : `One id that the service does not know is enough to refuse a batch. The next run submits ${formatCount(details.triedAgain)} of them again, in batches of a tenth. `;
  return {
    count: counts.refused,
    note: 'influencers',
    items: details.refusals.map(
      ({ reason, influencers }) => `${plural(influencers, 'influencer')}: ${reason}`,
    ),
    help: `${again}An influencer who was refused alone is not submitted again; check outreach_id if all are refused.`,
  };
}

const DOUBTS = {
  why: 'The service may have added these influencers, but no answer says so.',
  todo: 'check in the service whether the outreach has them, then settle it',
};

function renderOutreachSums({ counts, sumsAddUp }: OutreachReport, terminal: Terminal): string {
  const { waiting, excluded } = counts;
  const equation = formatSum(plural(counts.candidates, 'influencer'), [
    [counts.submitted, 'submitted'],
    [counts.already, 'already submitted'],
    [counts.ready, 'to be submitted'],
    [waiting.approval + waiting.limit + waiting.credits, 'waiting'],
    [sumOf(excluded), 'excluded'],
    [counts.refused, 'refused'],
    [counts.in_doubt, 'in doubt'],
    [counts.written_off, 'written off'],
  ]);
  const otherwise = '. Please report this. No influencer is submitted twice meanwhile.';
  return renderSums({ equation, sumsAddUp, otherwise }, terminal);
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
