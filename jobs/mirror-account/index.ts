import type { ConfigFinding } from '../../src/config/configured-kind.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { renderMirror } from './render.ts';
import type { MirrorCounts, MirrorReport } from './report.ts';
import { type MirrorAccountSettings, mirrorAccountFields } from './settings.ts';

/** Mirrors the account: brands, dealflows, deals and collaborations, with their history. */
export const mirrorAccount: JobKind<MirrorAccountSettings, MirrorReport> = {
  kind: 'mirror-account',
  nouns: { items: 'deals', done: 'mirrored' },
  fields: mirrorAccountFields,
  readsOfSource: [],
  oneReaderHelp: 'It reads no sources.',
  crossCheck: (job, { before }) => onlyMirror(job, before),
  purpose: () => null,
  leases: () => [],
  // A plan writes only a few rows, to its own tables.
  plansInOverlay: false,
  flow: async (run) => (await import('./flow.ts')).mirrorAccount(run),
  performUnit: async (run, { payload }) => (await import('./spread-deals.ts')).fetchShare(run, payload),
  fills: [
    'mirror.brand_versions',
    'mirror.dealflow_versions',
    'mirror.deal_versions',
    'mirror.coverage',
    'mirror.publications',
    'reporting.reconciliation',
    'bi.brands',
    'bi.dealflows',
    'bi.deals',
    'bi.deal_history',
    'bi.mirror_coverage',
    'bi.reconciliation',
  ],
  backfill: {
    needless: (name) =>
      `${name} needs no backfill: each run fetches the present state of the account, and the service has no history.`,
  },
  starter: { reads: null, comment: 'brands, dealflows and deals, for reports and to check codes.csv' },
  demo: 'Account: brands, dealflows and deals are mirrored for analysts',
  watched: {
    beyondBudget: (counts) => {
      const { deals_stale: stale = 0, deals_unread: unread = 0 } = counts as Partial<MirrorCounts>;
      return stale + unread;
    },
    leftForPerson: (counts) => {
      const { deals, unreadable = 0 } = counts as Partial<MirrorCounts>;
      return [
        ...clause(deals?.failed ?? 0, 'deal could not be read', 'deals could not be read'),
        ...clause(unreadable, 'answer could not be read', 'answers could not be read'),
      ];
    },
    drift: (counts) => (counts as Partial<MirrorCounts>).drift ?? 0,
    // The time in which two runs in a row have failed to finish.
    staleAfterHours: ({ refreshAfterHours }) => 2 * refreshAfterHours,
  },
  render: renderMirror,
};

function* onlyMirror(
  job: MirrorAccountSettings,
  [other]: readonly MirrorAccountSettings[],
): Generator<ConfigFinding> {
  if (other === undefined) return;
  yield {
    path: ['jobs', job.name, 'kind'],
    message: `jobs.${job.name} mirrors the account, as jobs.${other.name} already does.`,
    help: 'One job mirrors the whole account. Remove one of them.',
  };
}
