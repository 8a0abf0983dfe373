import { type Block, column, item, section, table, whole } from '../../src/render/block.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, plural } from '../../src/render/text.ts';
import { describeRunDoubts } from '../../src/reports/doubts/doubts.ts';
import { describeFiles } from '../../src/reports/files/read-files.ts';
import type { DealsReport } from './report.ts';

/** Renders what a run of `import-deals` did and the state of every creator. */
export const renderDeals: ReportRenderer<DealsReport> = {
  did: ({ created }) => `${plural(created, 'deal')} created`,
  tally: (counts, { isPlan = false } = {}) => ({
    kind: 'counts',
    count: counts.creators,
    whole: plural(counts.creators, 'creator'),
    meaning: 'of this job so far, as its files state now',
    lines: [
      ['created', counts.created, { note: 'in this run', color: 'green', always: true }],
      ['created before', counts.already],
      ['known', counts.known, { note: 'they already have a deal' }],
      isPlan
        ? ['would be created', counts.to_create, { note: 'unless the service already has a deal for them' }]
        : ['to be created', counts.to_create],
      ['refused', counts.refused, { note: 'by the service, see below', color: 'yellow' }],
      ['in doubt', counts.in_doubt, { note: 'see below', color: 'red' }],
      ['written off', counts.written_off],
      ['held', counts.held, { note: 'see below', color: 'yellow' }],
    ],
  }),
  attention: ({ counts }) => [
    ...clause(
      counts.refused + counts.held + counts.in_doubt,
      'creator needs your attention',
      'creators need your attention',
    ),
    ...clause(
      counts.notes_refused + counts.updates_refused,
      'note, stage or status was refused',
      'notes, stages and statuses were refused',
    ),
  ],
  blocks(summary) {
    const { report } = summary;
    const { counts, details } = report;
    return [
      ...describeUpdates(summary),
      ...describeFiles(summary),
      ...section('Held', {
        of: counts.held,
        note: 'no deal is created for them',
        parts: table(details.held, [
          column('creator', ({ handle }) => handle),
          column('platform', ({ platform }) => platform),
          column('what to do', ({ why }) => HELD_HELP[why] ?? why.replaceAll('_', ' ')),
        ]),
      }),
      ...section('Terms that differ', {
        of: counts.terms_differ,
        parts: table(details.differing, [
          column('creator', ({ handle }) => handle),
          whole('deal', ({ dealId }) => dealId),
          column('terms that differ', ({ why }) => why.replaceAll('_', ' ')),
        ]),
        help: 'The terms in the list differ from those of the deal. The service has no operation to change them, so nothing was sent: change them on the deal page, or correct the list.',
      }),
      ...section('Refused by the service', {
        count: details.refusals.reduce((sum, { creators }) => sum + creators, 0),
        parts: details.refusals.map(({ what, reason, creators }) =>
          item(`${what} of ${plural(creators, 'creator')}: ${reason}`),
        ),
        help: 'Fix what the reason names, in the list or in the job. The next run sends what has changed, and refused stages and statuses again.',
      }),
      ...describeRunDoubts(report, {
        why: 'The service may have created these deals or added these notes, but no answer says so.',
        todo: 'look up each creator in the service, then settle the entry with the id of the deal',
      }),
    ];
  },
};

/** Notes, stages and statuses: what was sent and what is waiting. */
function describeUpdates({ report: { counts }, isPlan = false }: RunSummary<DealsReport>): readonly Block[] {
  const sent = [
    ...clause(counts.notes_sent, 'note', 'notes'),
    ...clause(counts.stages_sent, 'stage', 'stages'),
    ...clause(counts.statuses_sent, 'active status', 'active statuses'),
  ].join(', ');
  const waiting = [
    ...clause(counts.notes_waiting, 'note', 'notes'),
    ...clause(counts.updates_waiting, 'stage or status', 'stages and statuses'),
  ].join(', ');
  const unseen = `The service accepted ${counts.updates_unseen} of these without showing them: its deals have no such field.`;
  const lines = [
    ...(sent === '' ? [] : [`Sent for deals in this run: ${sent}.`]),
    ...(counts.updates_unseen === 0 ? [] : [unseen]),
    ...(waiting === '' ? [] : [`${isPlan ? 'Would be sent' : 'To be sent'}: ${waiting}.`]),
  ];
  return lines.length === 0 ? [] : [{ kind: 'text', text: lines.join('\n') }];
}

const HELD_HELP: Readonly<Record<string, string>> = {
  several_deals: 'several deals match: write the right one into the column deal_id of the row',
  deal_in_doubt: 'a deal of this creator is in doubt: settle it with review',
  no_dealflow: 'name a dealflow_id in the row or in the job',
  conflicting_states:
    'two lists state the creator differently, and it is not known which is newer: see the held file',
  conflicting_rows:
    'several rows state the creator differently, and it is not known which is newer: keep one of them',
  deal_of_another:
    'the deal that the row names is one of another handle or platform: correct deal_id or the handle',
  code_of_another:
    'another creator of the brand has this code, and an order with it could be of either: give each a code of their own',
  deal_not_mirrored:
    'the service has a deal for this handle: run mirror-account, then this job again, or write its id into deal_id',
};
