import type { Block, CountLine, Sum } from '../../src/render/block.ts';
import { describeRefusals, describeSums, formatSum } from '../../src/render/render-blocks.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { clause, plural } from '../../src/render/text.ts';
import { describeDoubleCredits, describeDoubts, doubtsListed } from '../../src/reports/doubts/doubts.ts';
import {
  attentionToFiles,
  describeHeldFiles,
  describeRead,
  describeRejectedRows,
  describeWarnings,
  warningEvents,
} from '../../src/reports/files/read-files.ts';
import type { DealCounts, DealsReport } from './report.ts';

type Summary = RunSummary<DealsReport>;

/** Renders what a run of `import-deals` did and the state of every creator. */
export const renderDeals: ReportRenderer<DealsReport> = {
  did: ({ created }) => `${plural(created, 'deal')} created`,
  sum: sumOfCreators,
  attention: (report) => {
    const { counts } = report;
    return [
      ...attentionToFiles(report),
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
    ];
  },
  events: warningEvents,
  blocks: (summary) => {
    const { report } = summary;
    const { details } = report;
    return [
      describeRead(summary),
      ...describeDispositions(summary),
      ...describeUpdates(summary),
      ...describeHeldFiles(summary, 'no deals were created from them'),
      ...describeWarnings(summary),
      ...describeRejectedRows(summary),
      ...describeHeld(report),
      ...describeDiffering(report),
      ...describeRefusals(refusalsOf(report)),
      ...describeDoubts({ ...doubtsListed(report), ...DOUBTS }),
      ...describeDoubleCredits(details.doubleCredits),
      ...describeCreatorSums(report),
    ];
  },
};

function describeDispositions({ report: { counts }, isPlan = false }: Summary): readonly Block[] {
  const lines: readonly CountLine[] = [
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
  ];
  return [
    {
      kind: 'counts',
      whole: plural(counts.creators, 'creator'),
      meaning: 'of this job so far, as its files state now',
      lines,
      labelWidth: 17,
      total: counts.creators,
    },
  ];
}

/** Notes, stages and statuses: what was sent and what is waiting. */
function describeUpdates({ report: { counts }, isPlan = false }: Summary): readonly Block[] {
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
  const lines = [
    ...(sentText === '' ? [] : [`Sent for deals in this run: ${sentText}.`]),
    ...(counts.updates_unseen === 0
      ? []
      : [
          `The service accepted ${counts.updates_unseen} of these without showing them: its deals have no such field.`,
        ]),
    ...(waitingText === '' ? [] : [`${isPlan ? 'Would be sent' : 'To be sent'}: ${waitingText}.`]),
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
  deal_not_mirrored: 'the service has a deal for this handle: run mirror-account, then this job again',
};

function describeHeld({ counts, details }: DealsReport): readonly Block[] {
  if (details.held.length === 0) return [];
  const rows = details.held.map(({ handle, platform, why }) => [
    handle,
    platform,
    HELD_HELP[why] ?? why.replaceAll('_', ' '),
  ]);
  const columns = [{ title: 'creator' }, { title: 'platform' }, { title: 'what to do' }] as const;
  return [
    {
      kind: 'section',
      title: 'Held',
      count: counts.held,
      note: 'no deal is created for them',
      parts: [{ kind: 'table', columns, rows }],
      shown: rows.length,
    },
  ];
}

function describeDiffering({ counts, details }: DealsReport): readonly Block[] {
  if (details.differing.length === 0) return [];
  const rows = details.differing.map(({ handle, dealId, why }) => [
    handle,
    dealId ?? '',
    why.replaceAll('_', ' '),
  ]);
  const columns = [
    { title: 'creator' },
    { title: 'deal', cutAt: 'never' },
    { title: 'terms that differ' },
  ] as const;
  return [
    {
      kind: 'section',
      title: 'Terms that differ',
      count: counts.terms_differ,
      parts: [{ kind: 'table', columns, rows }],
      shown: rows.length,
      help: 'The terms in the list differ from those of the deal. The service has no operation to change them, so nothing was sent: change them on the deal page, or correct the list.',
    },
  ];
}

function refusalsOf({ details }: DealsReport) {
  return {
    count: details.refusals.reduce((sum, { creators }) => sum + creators, 0),
    items: details.refusals.map(
      ({ what, reason, creators }) => `${what} of ${plural(creators, 'creator')}: ${reason}`,
    ),
    help: 'Fix what the reason names, in the list or in the job. The next run sends what has changed, and refused stages and statuses again.',
  };
}

const DOUBTS = {
  why: 'The service may have created these deals or added these notes, but no answer says so.',
  todo: 'look up each creator in the service, then settle the entry with the id of the deal',
};

function describeCreatorSums({ counts, sumsAddUp }: DealsReport): readonly Block[] {
  const equation = formatSum(sumOfCreators(counts));
  const otherwise = '. Please report this. No deal is created twice because of it.';
  return describeSums({ equation, sumsAddUp, otherwise });
}

function sumOfCreators(counts: DealCounts): Sum {
  return {
    count: counts.creators,
    whole: plural(counts.creators, 'creator'),
    parts: [
      [counts.created, 'created'],
      [counts.already, 'created before'],
      [counts.known, 'known'],
      [counts.to_create, 'to be created'],
      [counts.refused, 'refused'],
      [counts.in_doubt, 'in doubt'],
      [counts.written_off, 'written off'],
      [counts.held, 'held'],
    ],
  };
}
