import { column, item, number, section, table } from '../../src/render/block.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, formatCount, markLookAlikes, plural } from '../../src/render/text.ts';
import { describeRunDoubts } from '../../src/reports/doubts/doubts.ts';
import { describeFiles } from '../../src/reports/files/read-files.ts';
import type { ClicksReport } from './report.ts';

/** Renders what a run of `post-clicks` did and the state of all clicks. */
export const renderClicks: ReportRenderer<ClicksReport> = {
  did: ({ posted }) => `${plural(posted, 'click')} posted`,
  tally(counts, { isPlan = false } = {}) {
    const { clicks, attributed, unattributed, held, excluded } = counts;
    const requests = `in ${plural(counts.requests, 'request')}`;
    const whose =
      'several influencers own them, two files state other numbers, or their day is after their export';
    return {
      kind: 'counts',
      count: clicks,
      whole: plural(clicks, 'click'),
      meaning: 'of this job so far, as its files state now',
      lines: [
        ['posted', counts.posted, { note: requests, color: 'green', always: true }],
        ['already posted', counts.already, { note: 'before this run', always: true }],
        [isPlan ? 'would be posted' : 'to be posted', counts.ready],
        ['unattributed', unattributed, { note: 'no influencer owns the link or code' }],
        ['held', held, { note: whose, color: 'yellow' }],
        ['excluded', excluded, { note: 'before start_date, or of a source that the job no longer reads' }],
        ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
        ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
        ['written off', counts.written_off],
      ],
      // More clicks may be posted than the files state now.
      parts: [
        ['attributed', attributed],
        ['unattributed', unattributed],
        ['held', held],
        ['excluded', excluded],
      ],
    };
  },
  attention: ({ counts: { refused, held, in_doubt: doubts } }) =>
    clause(refused + held + doubts, 'click needs your attention', 'clicks need your attention'),
  blocks(summary) {
    const { report } = summary;
    const { counts, details } = report;
    return [
      ...describeFiles(summary),
      ...section('Links and codes that credited no influencer', {
        of: details.unownedTotal,
        note: 'by clicks',
        parts: table(details.unowned, [
          column('link or code', ({ written }) => markLookAlikes(written)),
          number('clicks', ({ clicks }) => formatCount(clicks)),
          column('why', ({ reason }) => reason.replaceAll('_', ' ')),
        ]),
        help: [
          'No influencer owned these links and codes on that day, or several did: fix codes.csv, and the next run decides again.',
          ...Object.entries(OTHER_REASONS).flatMap(([reason, help]) =>
            details.unowned.some((one) => one.reason === reason) ? [help] : [],
          ),
        ].join(' '),
      }),
      ...section('Refused by the service', {
        count: counts.refused,
        note: 'clicks',
        parts: details.refusals.map(({ reason, clicks }) => item(`${plural(clicks, 'click')}: ${reason}`)),
        help: 'Fix what the reason names, often a handle or deal in codes.csv. The next run sends what has changed.',
      }),
      ...describeRunDoubts(report, {
        why: 'The service may have added these clicks, but no answer says so.',
        todo: 'compare each with the clicks of the deal in the service, then settle it',
      }),
      ...(counts.too_many === 0
        ? []
        : section('Posted, but no longer in the files', {
            count: counts.too_many,
            note: `${formatCount(details.adjusted)} recorded in this run`,
            why: 'Newer files state fewer clicks than were posted. The service cannot take clicks back, so nothing was sent; each is recorded as an adjustment.',
          })),
    ];
  },
};

/** Reasons for which clicks wait although an influencer may own their link, and what to do. */
const OTHER_REASONS = {
  conflicting_states: 'Of those with conflicting states, a held file states other numbers.',
  link_and_code:
    'Of those with a link and a code, the code, the link or the handle in it name different influencers: correct codes.csv, or export only the column that counts.',
  named_and_code:
    'Of those with a name and a code, the row names one influencer, and the code, the link or the handle in it another: correct codes.csv, or export only the column that counts.',
  deal_of_another:
    'Of those with a deal of another, the row names a deal and an influencer, and another influencer has the deal: correct the export, or run the mirror.',
  after_export: 'Of those after the export, the day is later than their file: set date_order of the source.',
};
