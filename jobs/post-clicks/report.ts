import { sql } from 'kysely';
import type { CodeProblem, DoubtDetails, FileCounts, FileDetails, RunReport } from '../../src/core/report.ts';
import { countsOf, type Database, rowsOf } from '../../src/db/statement.ts';
import { neverSent } from '../../src/ledger/propose.ts';
import {
  countsBy,
  isOfRun,
  type NamedCount,
  type ReportedRun,
  readAdjustments,
  readRunDoubts,
  readRunFiles,
  sumOf,
} from '../../src/reports/runs/run-report.ts';
import { isRefusedAndGone } from '../../src/rollups/disposition.ts';

/**
 * The result of a run of `post-clicks`. `sumsAddUp` means that clicks = attributed + unattributed + held +
 * excluded, and that for every influencer, day, source and country at least the stated number of clicks is
 * posted or waiting.
 */
export type ClicksReport = RunReport<'post-clicks', ClickCounts, ClickDetails>;

/**
 * Numbers of clicks, unless the comment says otherwise. `files`, `rows` and `posted` count this run; the
 * others are totals of the job after it.
 */
export type ClickCounts = FileCounts & {
  /** Rows without usable clicks, by reason. */
  readonly passed_over: Readonly<Record<string, number>>;
  /** Clicks as the files state them now. Each link, day and country counts once. */
  readonly clicks: number;
  readonly attributed: number;
  /** Clicks of links and codes that no influencer owns. */
  readonly unattributed: number;
  /** Clicks that name several influencers, or of which two files state different numbers. */
  readonly held: number;
  /** Clicks before the first day of the job. */
  readonly excluded: number;
  /** Clicks accepted in this run. */
  readonly posted: number;
  /** Requests accepted in this run. */
  readonly requests: number;
  /** Clicks accepted before this run. */
  readonly already: number;
  readonly ready: number;
  readonly refused: number;
  readonly in_doubt: number;
  readonly written_off: number;
  /** Clicks posted in excess of what the files state now. The service cannot remove clicks. */
  readonly too_many: number;
};

/** A link or code whose clicks are credited to no influencer. */
export type UnownedClicks = { readonly written: string; readonly reason: string; readonly clicks: number };

export type ClickDetails = FileDetails &
  DoubtDetails & {
    /** The links and codes with the most clicks. */
    readonly unowned: readonly UnownedClicks[];
    readonly unownedTotal: number;
    readonly refusals: readonly { readonly reason: string; readonly clicks: number }[];
    /** Number of adjustments recorded in this run, for entries that differ from what the files state now. */
    readonly adjusted: number;
    readonly codeProblems: readonly CodeProblem[];
  };

const SHOWN_LINKS = 10;

/** Reports what a run of `post-clicks` did and the state of all clicks of its job after it. */
export async function reportClicks(
  db: Database,
  options: ReportedRun & { readonly codeProblems: readonly CodeProblem[] },
): Promise<ClicksReport> {
  const { runId, job, sources, codeProblems } = options;
  const files = await readRunFiles(db, { runId, sources, readFor: 'clicks' });
  const stated = await readStated(db, job);
  const entries = await readEntries(db, { job, runId });
  const { lost, tooMany } = await compare(db, job);
  const unowned = await rowsOf<UnownedClicks>(db)`
    select min(written) as written, min(reason) as reason, sum(clicks)::float8 as clicks from intake.clicks
    where job = ${job} and outcome in ('unattributed', 'held')
    group by subject
    order by sum(clicks) desc, subject`;
  const refusals = await rowsOf<{ reason: string; clicks: number }>(db)`
    select coalesce(e.state_reason, 'no reason was given') as reason, sum(${clicksOf})::float8 as clicks
    from ledger.entries e
    where e.job = ${job} and e.effect is not distinct from 'click' and e.state = 'rejected'
      and not ${isRefusedAndGone}
    group by 1
    order by 2 desc, 1`;
  const doubts = await readRunDoubts(db, { job });
  const adjusted = await readAdjustments(db, runId);
  const counts: ClickCounts = {
    ...files.counts,
    passed_over: files.passedOver,
    ...stated,
    ...entries,
    too_many: tooMany,
  };
  const { clicks, attributed, unattributed, held, excluded } = counts;
  return {
    kind: 'post-clicks',
    counts,
    amounts: [],
    sumsAddUp: lost === 0 && clicks === attributed + unattributed + held + excluded && files.addUp,
    doubts: doubts.count,
    needsAttention: codeProblems.length > 0 || files.needAttention || counts.refused + counts.held > 0,
    details: {
      ...files.details,
      ...doubts.details,
      unowned: unowned.slice(0, SHOWN_LINKS),
      unownedTotal: unowned.length,
      refusals,
      adjusted: adjusted.reduce((sum, group) => sum + group.entries, 0),
      codeProblems,
    },
  };
}

async function readStated(db: Database, job: string) {
  const rows = await rowsOf<NamedCount>(db)`
    select outcome as name, sum(clicks)::float8 as count
    from intake.clicks
    where job = ${job}
    group by outcome`;
  return { clicks: sumOf(rows), ...countsBy(rows, ['attributed', 'unattributed', 'held', 'excluded']) };
}

const clicksOf = sql`(e.details ->> 'clicks')::bigint`;

async function readEntries(db: Database, { job, runId }: { job: string; runId: string }) {
  const rows = await rowsOf<NamedCount & { entries: number }>(db)`
    select case e.state when 'sending' then 'in_doubt' when 'rejected' then 'refused'
        when 'accepted' then case when ${isOfRun(runId)} then 'posted' else 'already' end
        else e.state end as name,
      sum(${clicksOf})::float8 as count, count(*)::float8 as entries
    from ledger.entries e
    where e.job = ${job} and e.effect is not distinct from 'click' and not ${isRefusedAndGone}
    group by 1`;
  return {
    requests: rows.find(({ name }) => name === 'posted')?.entries ?? 0,
    ...countsBy(rows, ['posted', 'already', 'ready', 'refused', 'in_doubt', 'written_off']),
  };
}

/**
 * Compares, for every influencer, day, source and country, the stated clicks with those that are posted or
 * waiting. Clicks of a source that the job no longer reads need not be posted.
 */
async function compare(db: Database, job: string) {
  return countsOf<'lost' | 'tooMany'>(db)`
    with stated as (
      select source, target, day, country, sum(clicks) as clicks,
        coalesce(sum(clicks) filter (where reason is null), 0) as wanted
      from intake.clicks where job = ${job} and target is not null group by source, target, day, country
    ),
    posted as (
      select e.source, e.details ->> 'target' as target, (e.details ->> 'day')::date as day,
        e.details ->> 'country' as country, sum(${clicksOf}) as clicks
      from ledger.entries e
      where e.job = ${job} and e.effect is not distinct from 'click'
        and not (e.state = 'held' and ${neverSent}) and not ${isRefusedAndGone}
      group by 1, 2, 3, 4
    )
    select coalesce(sum(greatest(coalesce(s.wanted, 0) - coalesce(p.clicks, 0), 0)), 0) as lost,
      coalesce(sum(greatest(coalesce(p.clicks, 0) - coalesce(s.clicks, 0), 0)), 0) as "tooMany"
    from stated s full join posted p using (source, target, day, country)`;
}
