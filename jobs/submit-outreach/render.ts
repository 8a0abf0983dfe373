import type { Block, CountLine, Sum } from '../../src/render/block.ts';
import {
  andMore,
  describeRefusals,
  describeSums,
  formatReasons,
  formatSum,
} from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import { describeDoubleCredits, describeDoubts, doubtsListed } from '../../src/reports/doubts/doubts.ts';
import { costOf } from './credits.ts';
import type { OutreachCounts, OutreachReport, ShownInfluencer } from './report.ts';
import type { SubmitOutreachSettings } from './settings.ts';

type Summary = RunSummary<OutreachReport>;

/** Renders what a run of `submit-outreach` did, what it cost, and the state of every influencer. */
export const renderOutreach: ReportRenderer<OutreachReport> = {
  did: ({ submitted }) => `${plural(submitted, 'influencer')} submitted`,
  sum: sumOfInfluencers,
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
  blocks: (summary) => {
    const { report } = summary;
    return [
      ...describeDispositions(summary),
      ...describeCredits(summary),
      ...describeNext(summary),
      ...describeMissingApproval(summary),
      ...describeRefusals(refusalsOf(report)),
      ...describeDoubts({ ...doubtsListed(report), ...DOUBTS }),
      ...describeDoubleCredits(report.details.doubleCredits),
      ...describeOutreachSums(report),
    ];
  },
};

/** The question that a person must approve before anything is sent. */
export function describeApproval(
  { outreachId, name }: SubmitOutreachSettings,
  { eligible, next }: { readonly eligible: number; readonly next: readonly ShownInfluencer[] },
): string {
  const lines = next.map((one) => `  ${nameOf(one)}`);
  return `${name} would submit ${plural(eligible, 'influencer')} to outreach ${outreachId}, for ${costOf(eligible)} search credits at most:
${[...lines, ...andMore(eligible - next.length)].join('\n')}
The service may write to them at once. You cannot undo that.
`;
}

function nameOf({ platform, username, userId, followers }: ShownInfluencer): string {
  return `${username ?? userId} on ${platform}${followers === null ? '' : `, ${plural(followers, 'follower')}`}`;
}

function describeDispositions({ report, isPlan = false }: Summary): readonly Block[] {
  const { counts, details } = report;
  const { waiting, excluded } = counts;
  const reasons = Object.entries(excluded).map(([reason, orders]) => ({ reason, orders }));
  const known = counts.submitted - counts.added;
  const requests = `in ${plural(counts.requests, 'request')}${known > 0 ? `; ${plural(known, 'was', 'were')} in the account already` : ''}`;
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
  return [
    {
      kind: 'counts',
      whole: plural(counts.candidates, 'influencer'),
      meaning: `among the customers so far; outreach ${details.outreachId}`,
      lines,
      labelWidth: 20,
      total: counts.candidates,
    },
  ];
}

function describeCredits({ report: { counts }, isPlan = false }: Summary): readonly Block[] {
  const { budget, spent, in_doubt: doubtful, left } = counts.credits;
  const risk = counts.in_doubt > 0 && doubtful !== '0.00' ? `, ${doubtful} perhaps (in doubt)` : '';
  const text = isPlan
    ? `Search credits: a run may spend ${budget}; this one would spend ${costOf(counts.ready)} at most.`
    : `Search credits: ${spent} of this run's ${budget} were spent${risk}; ${left} were left.`;
  return [{ kind: 'text', text }];
}

function describeNext({ report: { counts, details }, isPlan = false }: Summary): readonly Block[] {
  if (details.next.length === 0) return [];
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
  return [
    {
      kind: 'section',
      title: isPlan ? 'Would be submitted' : 'To be submitted',
      count: counts.ready + counts.waiting.approval,
      note: 'most followers first',
      parts: [{ kind: 'table', columns, rows }],
      shown: rows.length,
    },
  ];
}

function describeMissingApproval({ report: { counts }, finished }: Summary): readonly Block[] {
  if (counts.waiting.approval === 0) return [];
  const why =
    'Nothing was submitted, because this needs your approval. Run it with --yes, or set approve: true in the settings of the job.';
  const lines = [`npx influencer-sync run ${finished.job} --yes`];
  return [{ kind: 'text', text: why, tone: 'yellow', commands: { lines } }];
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
    help: `${again}An influencer who was refused alone is not submitted again. If all are refused, check outreach_id.`,
  };
}

const DOUBTS = {
  why: 'The service may have added these influencers, but no answer says so.',
  todo: 'check in the service whether the outreach has them, then settle it',
};

function describeOutreachSums({ counts, sumsAddUp }: OutreachReport): readonly Block[] {
  const equation = formatSum(sumOfInfluencers(counts));
  const otherwise = '. Please report this. No influencer is submitted twice because of it.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

function sumOfInfluencers({ waiting, excluded, ...counts }: OutreachCounts): Sum {
  return {
    count: counts.candidates,
    whole: plural(counts.candidates, 'influencer'),
    parts: [
      [counts.submitted, 'submitted'],
      [counts.already, 'already submitted'],
      [counts.ready, 'to be submitted'],
      [waiting.approval + waiting.limit + waiting.credits, 'waiting'],
      [sumOf(excluded), 'excluded'],
      [counts.refused, 'refused'],
      [counts.in_doubt, 'in doubt'],
      [counts.written_off, 'written off'],
    ],
  };
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
