import { statfs } from 'node:fs/promises';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Problem, ProblemKind } from '../../core/notify/notice.ts';
import type { HeldFile } from '../../core/report.ts';
import { readDatabaseClock } from '../../db/clock.ts';
import type { Database } from '../../db/connect.ts';
import { PROCESS_GONE } from '../../ops/run-record.ts';
import { listHeldFiles } from '../../reports/files/list-files.ts';
import { type ListedRun, listRuns } from '../../reports/runs/list-runs.ts';
import type { RunnableKind } from '../../runs/runnable-kind.ts';
import { problemFinders } from './problems/index.ts';
import type { JobRun, ProblemFinder, Situation } from './problems/problem-finder.ts';

export type Observation = {
  /** When the observation started, by the clock of the database. */
  readonly at: Date;
  readonly problems: readonly Problem[];
  /** Kinds of problems that could be determined. A problem of these kinds that was not found does not exist. */
  readonly determined: readonly ProblemKind[];
  /** Jobs of the configuration. Another process may have a different configuration. */
  readonly jobs: readonly string[];
};

export type ObserveOptions = {
  readonly config: PipelineConfig;
  readonly kinds: readonly RunnableKind[];
  /** Called with the error that kept it from determining a kind of problem. */
  readonly onTrouble: (kind: ProblemKind, error: unknown) => void;
};

/**
 * Searches for every kind of problem, one after the other. Changes nothing.
 *
 * @param finders the kinds to search for. If there are any, a person looks, and no notice is sent.
 */
export async function observeProblems(
  db: Database,
  options: ObserveOptions,
  finders: readonly ProblemFinder[] | null = null,
): Promise<Observation> {
  const situation = await readSituation(db, { ...options, isWatched: finders !== null });
  const problems: Problem[] = [];
  const determined: ProblemKind[] = [];
  for (const { kind, severity, find } of finders ?? problemFinders) {
    try {
      problems.push(
        ...(await find(situation)).map((found) => ({ kind, job: null, severity, amounts: [], ...found })),
      );
      determined.push(kind);
    } catch (error) {
      options.onTrouble(kind, error);
    }
  }
  return { at: situation.at, problems, determined, jobs: Object.keys(options.config.jobs) };
}

async function readSituation(
  db: Database,
  { config, kinds, isWatched }: ObserveOptions & { readonly isWatched: boolean },
): Promise<Situation> {
  const held = new Map<string, Promise<readonly HeldFile[]>>();
  let lastRuns: Promise<readonly JobRun[]> | null = null;
  return {
    db,
    config,
    kinds,
    isWatched,
    at: await readDatabaseClock(db),
    lastRuns: () => {
      lastRuns ??= readLastRuns(db, { config, kinds });
      return lastRuns;
    },
    heldFiles: (job) => {
      const purpose = kinds.find(({ kind }) => kind === job.kind)?.purpose(job) ?? null;
      const files =
        held.get(job.name) ??
        (purpose === null
          ? Promise.resolve([])
          : listHeldFiles(db, { sources: job.sources, readFor: purpose.readFor }));
      held.set(job.name, files);
      return files;
    },
    freeBytes: async (folder) => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
  };
}

/**
 * Runs that are still active, and runs that a person stopped, say nothing about a job. This is the number of
 * recent runs that are searched for one that does.
 */
const RUNS_LOOKED_AT = 10;

async function readLastRuns(
  db: Database,
  { config, kinds }: Pick<ObserveOptions, 'config' | 'kinds'>,
): Promise<readonly JobRun[]> {
  const found: JobRun[] = [];
  for (const job of Object.values(config.jobs)) {
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    const run = (await listRuns(db, { job: job.name, limit: RUNS_LOOKED_AT })).find(saysHowItIs);
    if (kind !== undefined && run !== undefined) found.push({ job, kind, run });
  }
  return found;
}

function saysHowItIs({ status, problemCode }: ListedRun): boolean {
  return status !== 'running' && (status !== 'interrupted' || problemCode === PROCESS_GONE);
}
