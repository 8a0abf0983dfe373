import type { DoubtDetails, RunReport } from '../../src/core/report.ts';
import { countsOf, type Database, finds, rowsOf } from '../../src/db/statement.ts';
import {
  countsBy,
  isOfRun,
  type NamedCount,
  readRunDoubts,
  sumOf,
} from '../../src/reports/runs/run-report.ts';
import { creditText, HUNDREDTHS_AN_INFLUENCER, type SubmitOutreachSettings } from './settings.ts';

/**
 * The result of a run of `submit-outreach`. `sumsAddUp` means that every candidate is counted once, each
 * chosen influencer is in a batch, and no influencer is in two batches of the outreach.
 */
export type OutreachReport = RunReport<'submit-outreach', OutreachCounts, OutreachDetails>;

/** Numbers of influencers after the run, unless the comment says otherwise. */
export type OutreachCounts = {
  /** Influencers among the customers of the brand. */
  readonly candidates: number;
  /** Influencers in batches that the service accepted in this run. */
  readonly submitted: number;
  /**
   * The part of `submitted` that the service added to the outreach. The others were already in the account.
   */
  readonly added: number;
  /** Requests accepted in this run. */
  readonly requests: number;
  /** Influencers in batches that were accepted before this run. */
  readonly already: number;
  /** Influencers in batches that are to be sent; in a plan, those that a run would send. */
  readonly ready: number;
  readonly requests_ready: number;
  /** Chosen influencers beyond what the run may submit, by the limit that they exceed. */
  readonly waiting: { readonly approval: number; readonly limit: number; readonly credits: number };
  /**
   * Influencers excluded by the rule of the job, or because they must never be submitted. Grouped by reason.
   */
  readonly excluded: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly in_doubt: number;
  readonly written_off: number;
  /**
   * Search credits, as text with two decimals: the budget of a run, the credits that this run spent, the
   * credits that its entries in doubt may have spent, and the rest.
   */
  readonly credits: {
    readonly budget: string;
    readonly spent: string;
    readonly in_doubt: string;
    readonly left: string;
  };
};

/** An influencer that the run has submitted or would submit. */
export type ShownInfluencer = {
  readonly platform: string;
  readonly username: string | null;
  readonly userId: string;
  readonly followers: number | null;
};

export type OutreachDetails = DoubtDetails & {
  readonly outreachId: string;
  /** Whether all wait for a decision about a file that may say who must not be submitted. */
  readonly mayRefuse: boolean;
  /** Influencers to be submitted or waiting for approval, those with the most followers first. */
  readonly next: readonly ShownInfluencer[];
  /** Why the service refused batches that are not split yet, or batches of a single influencer. */
  readonly refusals: readonly { readonly reason: string; readonly influencers: number }[];
  /** Number of refused influencers that the next run submits in smaller batches. */
  readonly triedAgain: number;
};

const SHOWN = 10;

/** Reports what a run of `submit-outreach` did and the state of every influencer after it. */
export async function reportOutreach(
  db: Database,
  { runId, job, mayRefuse }: { runId: string; job: SubmitOutreachSettings; mayRefuse: boolean },
): Promise<OutreachReport> {
  const groups = await readGroups(db, { runId, job: job.name });
  const sent = await readSent(db, { runId, job: job.name });
  const refusals = await rowsOf<{ reason: string; people: number; again: number }>(db)`
    select coalesce(e.state_reason, 'no reason was given') as reason, count(*)::float8 as people,
      (count(*) filter (where jsonb_array_length(e.details -> 'ids') > 1))::float8 as again
    from intake.outreach_candidates c join ledger.entries e using (entry_id)
    where c.job = ${job.name} and e.state = 'rejected' group by 1 order by 2 desc, 1 limit ${SHOWN}`;
  const doubts = await readRunDoubts(db, { job: job.name, shown: SHOWN });
  const reasonsOf = (outcome: string) =>
    groups
      .filter(({ name }) => name === outcome)
      .map(({ reason, count }) => ({ name: reason ?? 'other', count }));
  const excluded = Object.fromEntries(reasonsOf('excluded').map(({ name, count }) => [name, count]));
  const waiting = countsBy(reasonsOf('waiting'), ['approval', 'limit', 'credits']);
  const outcomes = countsBy(groups, ['submitted', 'already', 'ready', 'refused', 'in_doubt', 'written_off']);
  const counts: OutreachCounts = {
    candidates: sumOf(groups),
    ...outcomes,
    added: sent.added,
    requests: sent.requests,
    requests_ready: sent.ready,
    waiting,
    excluded,
    credits: creditsOf(job, sent),
  };
  return {
    kind: 'submit-outreach',
    counts,
    amounts: [],
    sumsAddUp: isWhole(counts) && !(await isAnybodyTwice(db, job.outreachId)),
    doubts: doubts.count,
    needsAttention: waiting.approval > 0 || counts.refused > 0,
    details: {
      outreachId: job.outreachId,
      mayRefuse,
      next: await readNext(db, job.name),
      ...doubts.details,
      refusals: refusals.map(({ reason, people }) => ({ reason, influencers: people })),
      triedAgain: refusals.reduce((sum, { again }) => sum + again, 0),
    },
  };
}

/**
 * Lists the influencers that a run would submit, or that wait for approval. Those with the most followers
 * come first.
 */
export async function readNext(db: Database, job: string): Promise<readonly ShownInfluencer[]> {
  return rowsOf<ShownInfluencer>(db)`
    select c.platform, c.username, c.user_id as "userId", c.followers::float8
    from intake.outreach_candidates c left join ledger.entries e using (entry_id)
    where c.job = ${job} and (e.state = 'ready' or c.reason = 'approval')
    order by c.followers desc nulls last, c.influencer limit ${SHOWN}`;
}

type Group = NamedCount & { readonly reason: string | null };

/**
 * Groups candidates by result: `submitted` in this run, else the state of their batch, `waiting` or
 * `excluded`.
 */
async function readGroups(db: Database, { runId, job }: { runId: string; job: string }) {
  return rowsOf<Group>(db)`
    select case
        when c.entry_id is null then c.outcome
        when e.state = 'accepted' then case when ${isOfRun(runId)} then 'submitted' else 'already' end
        when e.state = 'sending' then 'in_doubt'
        when e.state = 'rejected' then 'refused'
        else e.state
      end as name, c.reason, count(*)::float8 as count
    from intake.outreach_candidates c left join ledger.entries e using (entry_id)
    where c.job = ${job} group by 1, 2`;
}

/**
 * Reads the results of the requests of the run. The service states the number of influencers that it added.
 * If a person accepts an entry in doubt, that number is missing, and all influencers of the batch are
 * counted.
 */
async function readSent(db: Database, { runId, job }: { runId: string; job: string }) {
  return countsOf<'requests' | 'added' | 'doubtful' | 'ready'>(db)`
    select count(*) filter (where is_of_run and state = 'accepted') as requests,
      coalesce(sum(coalesce(substring(state_reason from '^([0-9]{1,9}) added')::bigint,
            people)) filter (where is_of_run
          and state = 'accepted'),
        0) as added,
      coalesce(sum(people) filter (where is_of_run and state in ('in_doubt', 'sending')), 0) as doubtful,
      count(*) filter (where state = 'ready') as ready
    from (
      select e.state, e.state_reason, jsonb_array_length(e.details -> 'ids') as people,
        ${isOfRun(runId)} as is_of_run
      from ledger.entries e where e.job = ${job} and e.effect = 'outreach') e`;
}

function creditsOf(
  { creditHundredths }: SubmitOutreachSettings,
  { added, doubtful }: { added: number; doubtful: number },
): OutreachCounts['credits'] {
  const spent = added * HUNDREDTHS_AN_INFLUENCER;
  const atRisk = doubtful * HUNDREDTHS_AN_INFLUENCER;
  return {
    budget: creditText(creditHundredths),
    spent: creditText(spent),
    in_doubt: creditText(atRisk),
    left: creditText(creditHundredths - spent - atRisk),
  };
}

function isWhole({ candidates, submitted, already, ready, waiting, excluded, ...rest }: OutreachCounts) {
  const parts = [submitted, already, ready, rest.refused, rest.in_doubt, rest.written_off];
  const all = [...parts, ...Object.values(waiting), ...Object.values(excluded)];
  return excluded.not_proposed === undefined && candidates === all.reduce((sum, part) => sum + part, 0);
}

/**
 * Returns true if an influencer is in two batches of the outreach that were sent or are to be sent, unless a
 * person approved sending one of them again.
 */
async function isAnybodyTwice(db: Database, outreachId: string): Promise<boolean> {
  return finds(db)`
    select from ledger.entries e cross join lateral jsonb_array_elements_text(e.details -> 'ids') as m(user_id)
    where e.effect = 'outreach' and e.details ->> 'outreach' = ${outreachId}
      and e.state not in ('held', 'rejected') and e.resends_approved = 0
    group by e.account_id, e.details ->> 'platform', m.user_id having count(*) > 1 limit 1`;
}
