import { kindOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { readVersion } from '../../core/package.ts';
import type { Database } from '../../db/connect.ts';
import { cached } from '../../monitoring/observe/cached.ts';
import { createMetrics, type Metrics, type MetricsOptions } from '../../monitoring/observe/metrics.ts';
import { nextSlots } from '../../ops/schedule/next-slots.ts';
import { findOverdue } from '../../ops/schedule/overdue.ts';
import { readGauges, type Sample } from '../../reports/status/read-gauges.ts';

/** Facts that only the process knows, not the configuration or the database. */
export type ProcessFacts = Pick<MetricsOptions, 'atWork' | 'isLedgerContinuous' | 'lastPoll'>;

/** Creates the metrics of a process that runs jobs of a configuration. */
export function openMetrics(config: PipelineConfig, db: Database, process: ProcessFacts): Metrics {
  const jobs = Object.values(config.jobs);
  const begunAt = new Date();
  return createMetrics({
    ...process,
    version: readVersion(),
    readSamples: cached(() => readSamples(config, db, begunAt)),
    nextSlots: () => nextSlots(jobs, new Date()).flatMap(({ job, at }) => (at === null ? [] : [{ job, at }])),
  });
}

/** The state of the database, and what the configuration says of it: the budget of each job, and whether it is late. */
async function readSamples(config: PipelineConfig, db: Database, since: Date): Promise<readonly Sample[]> {
  const names = { jobs: Object.keys(config.jobs), sources: Object.keys(config.sources) };
  const { samples, lastSuccess, pausedJobs } = await readGauges(db, names);
  const lastBegunAt = (name: string) => lastSuccess.find(({ job }) => job === name)?.startedAt ?? null;
  const overdue = findOverdue(Object.values(config.jobs), { now: new Date(), since, lastBegunAt });
  return [
    ...samples,
    ...lastSuccess.flatMap(({ job: name, counts }): readonly Sample[] => {
      const job = config.jobs[name];
      const left = job === undefined ? null : (kindOf(job).watched?.beyondBudget?.(counts ?? {}) ?? null);
      return left === null ? [] : [['beyond_budget', { job: name }, left]];
    }),
    // Nothing is due of a job that a person has paused.
    ...overdue
      .filter(({ job }) => !pausedJobs.includes(job))
      .flatMap(({ job, seconds, limitSeconds }): readonly Sample[] => [
        ['overdue_seconds', { job }, seconds],
        ['overdue_limit_seconds', { job }, limitSeconds],
      ]),
  ];
}
