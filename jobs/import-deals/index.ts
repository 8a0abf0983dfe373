import { OF_STORED_FILES } from '../../src/config/source-fields.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { renderDeals } from './render.ts';
import type { DealCounts, DealsReport } from './report.ts';
import { type ImportDealsSettings, importDealsFields } from './settings.ts';

/** Creates a deal for each creator of a list who has none yet. */
export const importDeals: JobKind<ImportDealsSettings, DealsReport> = {
  kind: 'import-deals',
  nouns: { items: 'deals', done: 'created' },
  fields: importDealsFields,
  readsOfSource: OF_STORED_FILES,
  oneReaderHelp: 'Let one job read each source: a list belongs to the settings of one job.',
  purpose: () => ({ readFor: 'creators' }),
  leases: ({ sources }) => sources.map((source) => `creators in source:${source}`),
  plansInOverlay: true,
  checkFile: async (file) => (await import('./doctor.ts')).checkCreators(file),
  diagnostics: async () => (await import('./doctor.ts')).diagnostics,
  flow: async (run) => (await import('./flow.ts')).importDeals(run),
  fills: ['intake.creators', 'ledger.entries', 'bi.creators_imported', 'bi.doubts'],
  backfill: {
    needless: (name) =>
      `${name} needs no plan: a creator who has a deal gets no other one, however often a list is read. Put the list where the job reads, look at \`plan ${name}\`, and run it; with --limit, so many requests at a time:\n  npx influencer-sync run ${name}`,
  },
  starter: {
    reads: 'creators',
    settings: ['# dealflow_id: D_XXXXXX # where deals are created, if rows name none'],
  },
  demo: 'Creators: each creator without a deal gets one, once',
  watched: {
    leftForPerson: (counts) => {
      const {
        held = 0,
        notes_refused: notes = 0,
        updates_refused: updates = 0,
      } = counts as Partial<DealCounts>;
      return [
        ...clause(held, 'creator is held', 'creators are held'),
        ...clause(
          notes + updates,
          'note, stage or status was refused',
          'notes, stages and statuses were refused',
        ),
      ];
    },
  },
  render: renderDeals,
  explain: {
    what: 'creators',
    argument: 'a handle or the id of a deal',
    find: async (db, text) => (await import('./explain.ts')).explainCreators(db, text),
  },
};
