import { sql } from 'kysely';
import type { DoubtDetails, FileCounts, FileDetails, RunReport } from '../../src/core/report.ts';
import { countsOf, type Database, rowsOf } from '../../src/db/statement.ts';
import {
  countsBy,
  isOfRun,
  type NamedCount,
  type ReportedRun,
  readRunDoubts,
  readRunFiles,
  sumOf,
} from '../../src/reports/runs/run-report.ts';
import { waits } from './decide-requests.ts';
import type { SentUpdates } from './update-deals.ts';

/**
 * The result of a run of `import-deals`. `sumsAddUp` means that creators = created + already + known +
 * to_create + refused + in_doubt + written_off + held, and that every row of the files is used or rejected.
 */
export type DealsReport = RunReport<'import-deals', DealCounts, DealDetails>;

/**
 * Counts of creators, unless the comment says otherwise. Counts described as "in this run" cover this run;
 * the others are totals of the job after it.
 */
export type DealCounts = FileCounts & {
  /**
   * Creators as the files state them now. Each combination of handle, platform, brand and dealflow counts
   * once.
   */
  readonly creators: number;
  /** Creators whose deal was created in this run. */
  readonly created: number;
  /** Creators whose deal was created before this run. */
  readonly already: number;
  /** Creators who had a deal that this job did not create. */
  readonly known: number;
  /** In a plan: deals that a run would create, unless a look-up at the service finds one. */
  readonly to_create: number;
  readonly refused: number;
  readonly in_doubt: number;
  readonly written_off: number;
  /** Creators for whom a person must make the decision. */
  readonly held: number;
  /** Notes accepted in this run, notes that wait to be sent or for their deal, and refused notes. */
  readonly notes_sent: number;
  readonly notes_waiting: number;
  readonly notes_refused: number;
  /** Stages and statuses that the service accepted in this run. Its deals were read back and show them. */
  readonly stages_sent: number;
  readonly statuses_sent: number;
  /** The part of both that could not be seen, because the deals of the service have no such field. */
  readonly updates_unseen: number;
  /** Stages and statuses that wait to be sent, and the number of deals whose update the service refused. */
  readonly updates_waiting: number;
  readonly updates_refused: number;
  /**
   * Creators whose terms at the service differ from the list. The service has no operation to change terms.
   */
  readonly terms_differ: number;
};

/** A creator who waits for a person, or whose terms differ. */
export type WaitingCreator = {
  readonly handle: string;
  readonly platform: string;
  readonly dealId: string | null;
  /** The reason, such as `several_deals`, or the names of the terms that differ. */
  readonly why: string;
};

export type DealDetails = FileDetails &
  DoubtDetails & {
    readonly held: readonly WaitingCreator[];
    readonly differing: readonly WaitingCreator[];
    readonly refusals: readonly {
      readonly what: string;
      readonly reason: string;
      readonly creators: number;
    }[];
  };

const SHOWN_CREATORS = 10;

/** Reports what a run of `import-deals` did and the state of every creator of its job after it. */
export async function reportDeals(
  db: Database,
  options: ReportedRun & { readonly sent: SentUpdates },
): Promise<DealsReport> {
  const { runId, job, sources, sent } = options;
  const files = await readRunFiles(db, { runId, sources, readFor: 'creators' });
  const dispositions = await readDispositions(db, { job, runId });
  const doubts = await readRunDoubts(db, { job });
  const counts: DealCounts = {
    ...files.counts,
    ...dispositions,
    ...(await readNotes(db, { job, runId })),
    stages_sent: sent.stages,
    statuses_sent: sent.statuses,
    updates_unseen: sent.unseen,
    ...(await readUpdates(db, job)),
  };
  const { creators, created, already, known, to_create, refused, in_doubt, written_off, held } = counts;
  return {
    kind: 'import-deals',
    counts,
    amounts: [],
    sumsAddUp:
      files.addUp &&
      creators === created + already + known + to_create + refused + in_doubt + written_off + held,
    doubts: doubts.count,
    needsAttention: files.needAttention || refused + held + counts.notes_refused + counts.updates_refused > 0,
    details: {
      ...files.details,
      ...doubts.details,
      held: await listHeld(db, job),
      differing: await listDiffering(db, job),
      refusals: await readRefusals(db, job),
    },
  };
}

/** SQL: creators `c`, joined with the ledger entry `e` of their deal. */
const creators = sql`intake.creators c left join ledger.entries e on e.effect = 'create_deal' and e.key = c.deal_key and c.outcome = 'create'`;

async function readDispositions(db: Database, { job, runId }: { job: string; runId: string }) {
  const rows = await rowsOf<NamedCount & { differ: number }>(db)`
    select case when c.outcome <> 'create' then c.outcome
        when e.state = 'accepted' then case when ${isOfRun(runId)} then 'created' else 'already' end
        when e.state = 'rejected' then 'refused'
        when e.state in ('sending', 'in_doubt') then 'in_doubt'
        when e.state in ('written_off', 'held') then e.state
        else 'to_create' end as name,
      count(*)::float8 as count, (count(*) filter (where c.differing_terms <> '{}'))::float8 as differ
    from ${creators} where c.job = ${job} and c.outcome <> 'superseded' group by 1`;
  return {
    creators: sumOf(rows),
    ...countsBy(rows, ['created', 'already', 'known', 'to_create']),
    ...countsBy(rows, ['refused', 'in_doubt', 'written_off', 'held']),
    terms_differ: rows.reduce((sum, row) => sum + row.differ, 0),
  };
}

async function readNotes(db: Database, { job, runId }: { job: string; runId: string }) {
  return countsOf<'notes_sent' | 'notes_waiting' | 'notes_refused'>(db)`
    select count(*) filter (where n.state = 'accepted' and ${isOfRun(runId, 'n')}) as notes_sent,
      count(*) filter (where coalesce(n.state, 'ready') = 'ready') as notes_waiting,
      count(*) filter (where n.state = 'rejected') as notes_refused
    from intake.creators c left join ledger.entries n on n.effect = 'note' and n.key = c.note_key
    where c.job = ${job} and c.outcome in ('create', 'known') and c.note is not null`;
}

async function readUpdates(db: Database, job: string) {
  return countsOf<'updates_waiting' | 'updates_refused'>(db)`
    select coalesce(sum((${waits.stage})::integer
        + (${waits.status})::integer) filter (where ${waits.hasDeal}),
      0) as updates_waiting, count(*) filter (where c.update_problem is not null) as updates_refused
    from intake.creators c where c.job = ${job} and c.outcome in ('create', 'known')`;
}

async function listHeld(db: Database, job: string): Promise<readonly WaitingCreator[]> {
  return rowsOf<WaitingCreator>(db)`
    select c.influencer_handle as handle, c.platform, c.deal_id as "dealId",
      coalesce(c.reason, e.state_reason, 'held') as why
    from ${creators} where c.job = ${job} and (c.outcome = 'held' or e.state = 'held')
    order by c.creator_id limit ${SHOWN_CREATORS}`;
}

async function listDiffering(db: Database, job: string): Promise<readonly WaitingCreator[]> {
  return rowsOf<WaitingCreator>(db)`
    select influencer_handle as handle, platform, deal_id as "dealId",
      array_to_string(differing_terms, ', ') as why
    from intake.creators where job = ${job} and outcome in ('create', 'known') and differing_terms <> '{}'
    order by creator_id limit ${SHOWN_CREATORS}`;
}

async function readRefusals(db: Database, job: string) {
  return rowsOf<{ what: string; reason: string; creators: number }>(db)`
    select what, coalesce(reason, 'no reason was given') as reason, count(*)::float8 as creators from (
      select 'deal' as what, e.state_reason as reason
      from ${creators}
      where c.job = ${job} and c.outcome = 'create' and e.state = 'rejected'
      union all
      select 'note', n.state_reason
      from intake.creators c join ledger.entries n on n.effect = 'note' and n.key = c.note_key
      where c.job = ${job} and c.outcome in ('create', 'known') and n.state = 'rejected'
      union all
      select 'stage or status', c.update_problem from intake.creators c
      where c.job = ${job} and c.outcome in ('create', 'known') and c.update_problem is not null
    ) refused group by 1, 2 order by 3 desc, 1, 2`;
}
