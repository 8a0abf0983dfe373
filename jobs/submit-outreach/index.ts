import type { ConfigFinding } from '../../src/config/configured-kind.ts';
import { clause } from '../../src/render/text.ts';
import type { JobKind } from '../job-kind.ts';
import { renderOutreach } from './render.ts';
import type { OutreachCounts, OutreachReport } from './report.ts';
import { type SubmitOutreachSettings, submitOutreachFields } from './settings.ts';

/**
 * Submits influencers among the customers to an outreach campaign, each once, within a budget of credits and
 * after an approval.
 */
export const submitOutreach: JobKind<SubmitOutreachSettings, OutreachReport> = {
  kind: 'submit-outreach',
  nouns: { items: 'influencers', done: 'submitted' },
  fields: submitOutreachFields,
  readsOfSource: [],
  oneReaderHelp: 'It reads no sources.',
  crossCheck: checkRule,
  purpose: () => null,
  // Only one run at a time, for all campaigns, because an influencer must not be contacted twice within
  // `not_contacted_days`.
  leases: () => ['outreach:submissions'],
  // A plan writes a row for each influencer whose decision changed.
  plansInOverlay: false,
  approves: 'submitting influencers, which spends credits',
  heeds: 'refusals',
  flow: async (run, found) => (await import('./flow.ts')).submitOutreach(run, found),
  fills: ['intake.outreach_candidates', 'ledger.entries', 'bi.outreach_submissions', 'bi.doubts'],
  backfill: {
    needless: (name) =>
      `${name} needs no backfill: it considers all customers identified so far, however long ago, and submits each once. --limit limits the influencers in one run:\n  npx influencer-sync run ${name}`,
  },
  demo: 'Outreach: influencers among the customers are added to a campaign, once',
  watched: {
    beyondBudget: (counts) => (counts as Partial<OutreachCounts>).waiting?.credits ?? 0,
    leftForPerson: (counts) =>
      clause(
        (counts as Partial<OutreachCounts>).waiting?.approval ?? 0,
        'influencer waits for your approval',
        'influencers wait for your approval',
      ),
  },
  render: renderOutreach,
  explain: {
    what: 'influencers',
    argument: 'a handle or platform user id',
    find: async (db, text) => (await import('./explain.ts')).explainInfluencers(db, text),
  },
};

function* checkRule(job: SubmitOutreachSettings): Generator<ConfigFinding> {
  const { minFollowers, maxFollowers } = job.rule;
  if (minFollowers !== null && maxFollowers !== null && minFollowers > maxFollowers) {
    yield {
      path: ['jobs', job.name, 'max_followers'],
      message: `jobs.${job.name}.max_followers (${maxFollowers}) is less than min_followers (${minFollowers}), so no influencer qualifies.`,
      help: 'Raise max_followers or lower min_followers.',
    };
  }
  if (!job.approve && (job.schedule !== null || job.after !== null)) {
    yield {
      path: ['jobs', job.name, 'approve'],
      message: `jobs.${job.name} runs on a schedule, so no person can approve what it submits.`,
      help: 'Set approve: true if it may spend its credits without asking. Or remove schedule and after, and start its runs yourself.',
    };
  }
}
