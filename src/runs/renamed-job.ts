import type { JobSettings } from '../config/job-fields.ts';
import type { PipelineConfig } from '../config/schema.ts';
import { backfillRunName } from '../core/backfill.ts';
import { formatAmounts } from '../core/money.ts';
import type { Progress } from '../core/progress.ts';
import { plural } from '../core/text/plural.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { countOf, type Database, finds, rowsOf } from '../db/statement.ts';
import { auditOfJob } from '../ops/record-audit.ts';
import { withLeases } from '../ops/with-leases.ts';
import { readOpenBacklog } from '../rollups/backlog.ts';
import type { RunnableKind } from './runnable-kind.ts';

/*
 * What a job has decided, sent and earned belongs to its sources, not to its name. If a name leaves the configuration
 * and a new job of the same kind reads its sources, that job continues it: its orders that wait are posted, its doubts
 * are shown, its refunds are followed.
 */

/** More entries of a job in one state are not counted. */
const COUNTED = 100_000;

type Jobs = {
  readonly config: Pick<PipelineConfig, 'jobs' | 'api'>;
  readonly job: JobSettings;
  readonly kind: Pick<RunnableKind, 'backfill'>;
};

/**
 * Finds the job of an earlier configuration that a job continues under another name: of the same kind, no longer
 * configured, and with decisions or entries about a source that the job reads. Null if the job has decided something
 * itself, if there are several, or if another configured job reads one of the sources too: then only a person knows.
 */
export async function findRenamedJob(db: Database, { config, job, kind }: Jobs): Promise<string | null> {
  if (job.sources.length === 0) return null;
  const configured = Object.values(config.jobs);
  const earlier = await listEarlierJobs(db, { config, job, kind });
  const [found] = earlier;
  if (found === undefined || earlier.length > 1) return null;
  const others = configured.filter((other) => other.name !== job.name && other.kind === job.kind);
  const isShared = others.some(({ sources }) => sources.some((source) => found.sources.includes(source)));
  return isShared ? null : found.job;
}

/**
 * Lists the jobs of the same kind that are no longer configured and have decisions or entries about a source that a
 * job reads, with their sources. Empty if the job itself has decided something. Usually it reads only the names of
 * earlier runs and of backfills, which may be all that a job did.
 */
async function listEarlierJobs(
  db: Database,
  { config, job, kind }: Jobs,
): Promise<readonly { readonly job: string; readonly sources: readonly string[] }[]> {
  const configured = Object.values(config.jobs).map(({ name }) => name);
  const gone = await rowsOf<{ job: string }>(db)`
    select distinct job from (
      select job from ops.runs where kind = ${job.kind}
      union all
      select job from ops.backfills where ${kind.backfill === 'by_days'}) known
    where job <> all(${configured}::text[])`;
  if (gone.length === 0 || (await hasDecided(db, job.name))) return [];
  return rowsOf<{ job: string; sources: readonly string[] }>(db)`
    select s.job, array_agg(distinct s.source) as sources
    from (
      select job, source from ledger.entries
      union
      select job, source from intake.attributions
    ) s
    where s.job = any(${gone.map((one) => one.job)}::text[]) and s.source is not null
    group by s.job having bool_or(s.source = any(${[...job.sources]}::text[]))`;
}

async function hasDecided(db: Database, job: string): Promise<boolean> {
  return finds(db)`
    select where exists (select from intake.attributed_files where job = ${job})
      or exists (select from ledger.entries where job = ${job})`;
}

/**
 * Gives everything of the job that `findRenamedJob` finds to the job that continues it, in one transaction, and
 * records it in the audit. Does nothing if it finds none.
 *
 * @throws KnownError `already_running` (exit 5) if a run under the old name is active.
 */
export async function continueRenamedJob(
  db: Database,
  {
    config,
    job,
    kind,
    progress,
    draining,
  }: Jobs & { readonly progress: Progress; readonly draining: AbortSignal },
): Promise<void> {
  const old = await findRenamedJob(db, { config, job, kind });
  if (old === null) return;
  const names = [`job:${old}`, `job:${backfillRunName(old)}`];
  await withLeases(db, { names, ttlMs: config.api.leaseSeconds * 1000, draining }, async () => {
    const entries = await inTransaction(db, async (trx) => {
      const renamed = await countOf(trx)`select ops.rename_job(${old}, ${job.name}) as entries`;
      await auditOfJob(job.name)(trx, {
        action: 'rename_job',
        subjectKind: 'job',
        subject: job.name,
        summary: `${job.name} continues ${old}, which the configuration no longer names.`,
        before: { job: old },
        after: { job: job.name },
      });
      return renamed;
    });
    progress.note(
      `${job.name} continues ${old}, which the configuration no longer names: it reads the same sources. Its decisions and ${plural(entries, 'ledger entry', 'ledger entries')} are now those of ${job.name}.`,
    );
  });
}

/**
 * Finds entries that no run posts, because the configuration does not name their job: those that wait, and those in
 * doubt.
 *
 * @param configured the names of the jobs that run. Their entries are not read.
 * @returns how many and how much, and what to do, in a sentence each; null if there are none.
 */
export async function describeStranded(
  db: Database,
  configured: readonly string[],
): Promise<{ readonly what: string; readonly fix: string } | null> {
  const backlog = await readOpenBacklog(db, { limit: COUNTED, otherThan: configured });
  const stranded = backlog.filter(({ state }) => state !== 'held');
  if (stranded.length === 0) return null;
  const names = [...new Set(stranded.map(({ job }) => job))];
  const entries = stranded.reduce((sum, one) => sum + one.entries, 0);
  const amounts = formatAmounts(
    stranded.flatMap(({ amount, currency }) => (amount === null ? [] : [{ amount, currency }])),
  );
  const atLeast = stranded.some(({ isPart }) => isPart) ? 'at least ' : '';
  const money = amounts === '' ? '' : ` (${amounts})`;
  const [noun, whose] = names.length === 1 ? ['job', 'that name'] : ['jobs', 'those names'];
  const wait = entries === 1 ? 'waits or is' : 'wait or are';
  return {
    what: `${atLeast}${plural(entries, 'ledger entry', 'ledger entries')}${money} ${wait} in doubt under the ${noun} ${names.join(', ')}, which the configuration does not name, so no run posts them.`,
    fix: `Configure a job with ${whose} and the same sources, and run it.`,
  };
}
