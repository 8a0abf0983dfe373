import { item, section } from '../../src/render/block.ts';
import type { ReportRenderer } from '../../src/render/report-renderer.ts';
import { clause, plural } from '../../src/render/text.ts';
import { describeRunDoubts } from '../../src/reports/doubts/doubts.ts';
import type { CorrectionsReport } from './report.ts';

/** Renders which changes of posted orders a run has reported. */
export const renderCorrections: ReportRenderer<CorrectionsReport> = {
  did: ({ told }) => `${plural(told, 'correction')} reported`,
  tally(counts, { isPlan = false, details } = {}) {
    const noun = details?.told === 'task' ? 'task' : 'note';
    return {
      kind: 'counts',
      count: counts.corrections,
      whole: plural(counts.corrections, 'order'),
      meaning: 'changed after the service had accepted them',
      lines: [
        ['reported', counts.told, { note: `in ${plural(counts.notes, noun)}`, color: 'green', always: true }],
        ['reported before', counts.told_before, { note: 'this run', always: true }],
        [isPlan ? 'would be reported' : 'to be reported', counts.ready],
        ['on the next day', counts.waiting, { note: `a deal gets one ${noun} a day` }],
        ['held', counts.held, { note: 'what they come to now is not known yet' }],
        ['without a deal', counts.no_deal, { note: 'the service did not name one', color: 'yellow' }],
        ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
        ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
        ['written off', counts.written_off],
      ],
    };
  },
  attention: ({ counts: { refused, no_deal: lost, in_doubt: doubts } }) =>
    clause(refused + lost + doubts, 'correction needs your attention', 'corrections need your attention'),
  blocks: ({ report }) => [
    ...section('Refused by the service', {
      count: report.counts.refused,
      note: 'corrections',
      parts: report.details.refusals.map(({ reason, orders }) =>
        item(`${plural(orders, 'order')}: ${reason}`),
      ),
      help: 'They are not sent again. Tell the people who work on these deals yourself; bi.adjustments lists the orders.',
    }),
    ...describeRunDoubts(report, {
      why: 'The service may have written these, but no answer says so.',
      todo: 'look at the deal in the service, then settle it',
    }),
  ],
};
