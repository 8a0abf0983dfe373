import type { Block, CountLine, Sum } from '../../src/render/block.ts';
import { describeRefusals, describeSums, formatSum } from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, formatCount, markLookAlikes, plural } from '../../src/render/text.ts';
import {
  attentionToCodes,
  codeProblemEvents,
  describeCodeProblems,
} from '../../src/reports/codes/code-problems.ts';
import { describeDoubleCredits, describeDoubts, doubtsListed } from '../../src/reports/doubts/doubts.ts';
import {
  attentionToFiles,
  describeHeldFiles,
  describeRead,
  describeRejectedRows,
  describeWarnings,
  warningEvents,
} from '../../src/reports/files/read-files.ts';
import type { ClickCounts, ClicksReport } from './report.ts';

type Summary = RunSummary<ClicksReport>;

/** Renders what a run of `post-clicks` did and the state of all clicks. */
export const renderClicks: ReportRenderer<ClicksReport> = {
  did: ({ posted }) => `${plural(posted, 'click')} posted`,
  sum: sumOfClicks,
  attention: (report) => {
    const { refused, held, in_doubt: doubts } = report.counts;
    return [
      ...attentionToFiles(report),
      ...attentionToCodes(report.details.codeProblems),
      ...clause(refused + held + doubts, 'click needs your attention', 'clicks need your attention'),
    ];
  },
  events: (report) => [...codeProblemEvents(report.details.codeProblems), ...warningEvents(report)],
  blocks: (summary) => {
    const { report } = summary;
    const { details } = report;
    return [
      describeRead(summary),
      ...describeDispositions(summary),
      ...describeHeldFiles(summary, 'nothing in them was posted'),
      ...describeWarnings(summary),
      ...describeRejectedRows(summary),
      ...describeCodeProblems(details.codeProblems),
      ...describeUnowned(report),
      ...describeRefusals(refusalsOf(report)),
      ...describeDoubts({ ...doubtsListed(report), ...DOUBTS }),
      ...describeDoubleCredits(details.doubleCredits),
      ...describeTooMany(report),
      ...describeClickSums(report),
    ];
  },
};

function describeDispositions({ report: { counts }, isPlan = false }: Summary): readonly Block[] {
  const requests = `in ${plural(counts.requests, 'request')}`;
  const lines: readonly CountLine[] = [
    ['posted', counts.posted, { note: requests, color: 'green', always: true }],
    ['already posted', counts.already, { note: 'before this run', always: true }],
    [isPlan ? 'would be posted' : 'to be posted', counts.ready],
    ['unattributed', counts.unattributed, { note: 'no influencer owns the link or code' }],
    [
      'held',
      counts.held,
      { note: 'several influencers own them, or two files state other numbers', color: 'yellow' },
    ],
    ['excluded', counts.excluded, { note: 'before start_date, or of a source that the job no longer reads' }],
    ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
    ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
    ['written off', counts.written_off],
  ];
  return [
    {
      kind: 'counts',
      whole: plural(counts.clicks, 'click'),
      meaning: 'of this job so far, as its files state now',
      lines,
      labelWidth: 16,
      total: counts.clicks,
    },
  ];
}

function describeUnowned({ details }: ClicksReport): readonly Block[] {
  if (details.unowned.length === 0) return [];
  const rows = details.unowned.map(({ written, reason, clicks }) => [
    markLookAlikes(written),
    formatCount(clicks),
    reason.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'link or code' }, { title: 'clicks', align: 'right' }, { title: 'why' }] as const;
  return [
    {
      kind: 'section',
      title: 'Links and codes that credited no influencer',
      count: details.unownedTotal,
      note: 'by clicks',
      parts: [{ kind: 'table', columns, rows }],
      shown: rows.length,
      help: 'No influencer owned these links and codes on that day, or several did: fix codes.csv, and the next run decides again. Of those with conflicting states, a held file states other numbers.',
    },
  ];
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

function describeTooMany({ counts, details }: ClicksReport): readonly Block[] {
  if (counts.too_many === 0) return [];
  return [
    {
      kind: 'section',
      title: 'Posted, but no longer in the files',
      count: counts.too_many,
      note: `${formatCount(details.adjusted)} recorded in this run`,
      why: 'Newer files state fewer clicks than were posted. The service cannot take clicks back, so nothing was sent; each is recorded as an adjustment.',
    },
  ];
}

function describeClickSums({ counts, sumsAddUp }: ClicksReport): readonly Block[] {
  const equation = formatSum(sumOfClicks(counts));
  const otherwise = '. Please report this. No click is posted twice because of it.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

function sumOfClicks({ clicks, attributed, unattributed, held, excluded }: ClickCounts): Sum {
  return {
    count: clicks,
    whole: plural(clicks, 'click'),
    parts: [
      [attributed, 'attributed'],
      [unattributed, 'unattributed'],
      [held, 'held'],
      [excluded, 'excluded'],
    ],
  };
}
