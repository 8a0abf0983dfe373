import { sumOrders } from '../../src/core/order.ts';
import { type Block, column, item, number, section, table, whole } from '../../src/render/block.ts';
import { andMore, formatReasons } from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, plural } from '../../src/render/text.ts';
import { describeRunDoubts } from '../../src/reports/doubts/doubts.ts';
import type { OutreachReport, ShownInfluencer } from './report.ts';
import { costOf, type SubmitOutreachSettings } from './settings.ts';

/** Renders what a run of `submit-outreach` did, what it cost, and the state of every influencer. */
export const renderOutreach: ReportRenderer<OutreachReport> = {
  did: ({ submitted }) => `${plural(submitted, 'influencer')} submitted`,
  tally(counts, { isPlan = false, details } = {}) {
    const { waiting, excluded } = counts;
    const reasons = Object.entries(excluded).map(([reason, orders]) => ({ reason, orders }));
    const known = counts.submitted - counts.added;
    const requests = `in ${plural(counts.requests, 'request')}${known > 0 ? `; ${plural(known, 'was', 'were')} in the account already` : ''}`;
    const cost = `in ${plural(counts.requests_ready, 'request')}, for ${costOf(counts.ready)} credits at most`;
    const approval = `for ${costOf(waiting.approval)} credits at most`;
    return {
      kind: 'counts',
      count: counts.candidates,
      whole: plural(counts.candidates, 'influencer'),
      meaning:
        details === undefined
          ? 'among the customers so far'
          : `among the customers so far; outreach ${details.outreachId}`,
      lines: [
        ['submitted', counts.submitted, { note: requests, color: 'green', always: true }],
        ['already submitted', counts.already, { note: 'before this run', always: true }],
        [isPlan ? 'would be submitted' : 'to be submitted', counts.ready, { note: cost }],
        [
          details?.mayRefuse === true ? 'held' : 'wait for approval',
          waiting.approval,
          { note: approval, color: 'yellow' },
        ],
        ['left by --limit', waiting.limit, { note: 'for the next run' }],
        ['beyond credits', waiting.credits, { note: 'for the next run' }],
        ['excluded', sumOrders(reasons), { note: formatReasons(reasons) }],
        ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
        ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
        ['written off', counts.written_off],
      ],
    };
  },
  attention: ({ counts: { waiting, refused, in_doubt: doubts }, details: { mayRefuse } }) => [
    ...(mayRefuse
      ? clause(waiting.approval, 'influencer is held', 'influencers are held')
      : clause(waiting.approval, 'influencer waits for your approval', 'influencers wait for your approval')),
    ...clause(refused + doubts, 'influencer needs your attention', 'influencers need your attention'),
  ],
  blocks(summary) {
    const { report, isPlan = false } = summary;
    const { counts, details } = report;
    const again =
      details.triedAgain === 0
        ? ''
        : `One id that the service does not know is enough to refuse a batch. The next run submits ${formatCount(details.triedAgain)} of them again, in batches of a tenth. `;
    return [
      describeCredits(summary),
      ...section(isPlan ? 'Would be submitted' : 'To be submitted', {
        of: counts.ready + counts.waiting.approval,
        note: 'most followers first',
        parts: table(details.next, [
          column('handle', ({ username }) => username),
          whole('platform', ({ platform }) => platform),
          column('user id', ({ userId }) => userId),
          number('followers', ({ followers }) => (followers === null ? null : formatCount(followers))),
        ]),
      }),
      ...describeMissingApproval(summary),
      ...section('Refused by the service', {
        count: counts.refused,
        note: 'influencers',
        parts: details.refusals.map(({ reason, influencers }) =>
          item(`${plural(influencers, 'influencer')}: ${reason}`),
        ),
        help: `${again}An influencer who was refused alone is not submitted again. If all are refused, check outreach_id.`,
      }),
      ...describeRunDoubts(report, {
        why: 'The service may have added these influencers, but no answer says so.',
        todo: 'check in the service whether the outreach has them, then settle it',
      }),
    ];
  },
};

/** The question that a person must approve before anything is sent. */
export function describeApproval(
  { outreachId, name }: SubmitOutreachSettings,
  { eligible, next }: { eligible: number; next: readonly ShownInfluencer[] },
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

function describeCredits({ report: { counts }, isPlan = false }: RunSummary<OutreachReport>): Block {
  const { budget, spent, in_doubt: doubtful, left } = counts.credits;
  const risk = counts.in_doubt > 0 && doubtful !== '0.00' ? `, ${doubtful} perhaps (in doubt)` : '';
  const text = isPlan
    ? `Search credits: a run may spend ${budget}; this one would spend ${costOf(counts.ready)} at most.`
    : `Search credits: ${spent} of this run's ${budget} were spent${risk}; ${left} were left.`;
  return { kind: 'text', text };
}

function describeMissingApproval({ report, finished }: RunSummary<OutreachReport>): readonly Block[] {
  if (report.counts.waiting.approval === 0) return [];
  if (report.details.mayRefuse)
    return [
      {
        kind: 'text',
        text: 'Nothing was submitted, and no approval changes that: first decide about the file that may say who must not be submitted. No source reads it, or it is held.',
        tone: 'yellow',
      },
    ];
  const text =
    'Nothing was submitted, because this needs your approval. Run it with --yes, or set approve: true in the settings of the job.';
  const lines = [`npx influencer-sync run ${finished.job} --yes`];
  return [{ kind: 'text', text, tone: 'yellow', commands: { lines } }];
}
