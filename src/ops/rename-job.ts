import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { countOf, finds, rowsOf } from '../db/statement.ts';

/** A job that has decided about orders or has entries in the ledger, with the sources of these. */
export type EarlierJob = { readonly job: string; readonly sources: readonly string[] };

export type EarlierJobsOptions = {
  readonly job: string;
  readonly kind: string;
  /** True if jobs of the kind do backfills, which may be all that an earlier one did. */
  readonly hasBackfills: boolean;
  readonly sources: readonly string[];
  /** The names of all jobs that are configured now. */
  readonly configured: readonly string[];
};

/**
 * Lists the jobs of the same kind that are no longer configured and have decisions or entries about a source that a
 * job reads. Empty if the job itself has decided something. Usually it reads only the names of earlier runs and of
 * backfills, which may be all that a job did.
 */
export async function listEarlierJobs(
  db: Database,
  { job, kind, hasBackfills, sources, configured }: EarlierJobsOptions,
): Promise<readonly EarlierJob[]> {
  const gone = await rowsOf<{ job: string }>(db)`
    select distinct job from (
      select job from ops.runs where kind = ${kind}
      union all
      select job from ops.backfills where ${hasBackfills}) known
    where job <> all(${[...configured]}::text[])`;
  if (gone.length === 0 || (await hasDecided(db, job))) return [];
  return rowsOf<EarlierJob>(db)`
    select s.job, array_agg(distinct s.source) as sources
    from (
      select job, source from ledger.entries
      union
      select job, source from intake.attributions
    ) s
    where s.job = any(${gone.map((one) => one.job)}::text[]) and s.source is not null
    group by s.job having bool_or(s.source = any(${[...sources]}::text[]))`;
}

/** Gives everything that a job has decided, sent and earned to another name. @returns the number of its entries. */
export async function renameJob(
  trx: DatabaseTransaction,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number> {
  return countOf(trx)`select ops.rename_job(${from}, ${to}) as entries`;
}

async function hasDecided(db: Database, job: string): Promise<boolean> {
  return finds(db)`
    select where exists (select from intake.attributed_files where job = ${job})
      or exists (select from ledger.entries where job = ${job})`;
}
