import { OF_STORED_FILES } from '../../src/config/source-fields.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { renderClicks } from './render.ts';
import type { ClickCounts, ClicksReport } from './report.ts';
import { type PostClicksSettings, postClicksFields } from './settings.ts';

/** Posts the clicks of link shorteners and web analytics to the totals of influencers. */
export const postClicks: JobKind<PostClicksSettings, ClicksReport> = {
  kind: 'post-clicks',
  nouns: { items: 'clicks', done: 'posted' },
  fields: postClicksFields,
  readsOfSource: [...OF_STORED_FILES, 'date_order'],
  oneReaderHelp: 'Let one job read each source: two jobs would post its clicks twice.',
  purpose: () => ({ readFor: 'clicks' }),
  leases: ({ sources }) => sources.map((source) => `clicks in source:${source}`),
  plansInOverlay: true,
  checkFile: async (file) => (await import('./doctor.ts')).checkClicks(file),
  flow: async (run) => (await import('./flow.ts')).postClicks(run),
  openIntake: async () => (await import('./flow.ts')).createClickIntake(),
  fills: ['intake.clicks', 'ledger.entries', 'bi.clicks', 'bi.clicks_posted', 'bi.doubts'],
  backfill: {
    needless: (name) =>
      `${name} needs no plan: each day of a file is posted once, and a newer file posts the difference. Put the old exports where the job reads, and run it. --limit bounds the requests of one run:\n  npx influencer-sync run ${name}`,
  },
  starter: { reads: 'clicks', settings: ['codes: ./codes.csv'] },
  demo: 'Clicks: each click on an influencer’s link is added to the deal once',
  watched: {
    leftForPerson: (counts) =>
      clause(
        (counts as Partial<ClickCounts>).held ?? 0,
        'click has several owners',
        'clicks have several owners',
      ),
  },
  render: renderClicks,
  explain: {
    what: 'clicks',
    argument: 'a link, code, handle or deal',
    find: async (db, text) => (await import('./explain.ts')).explainClicks(db, text),
  },
};
