import { kindOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { readVersion } from '../../core/package.ts';
import type { Database } from '../../db/connect.ts';
import { cached } from '../../monitoring/observe/cached.ts';
import { createMetrics, type Metrics, type MetricsOptions } from '../../monitoring/observe/metrics.ts';
import { nextSlots } from '../../ops/schedule/next-slots.ts';
import { findOverdue } from '../../ops/schedule/overdue.ts';
import { readGauges } from '../../reports/status/read-gauges.ts';

/** Facts that only the process knows, not the configuration or the database. */
export type ProcessFacts = Pick<MetricsOptions, 'atWork' | 'isLedgerContinuous' | 'lastPoll'>;

/** Creates the metrics of a process that runs jobs of a configuration. */
export function openMetrics(config: PipelineConfig, db: Database, process: ProcessFacts): Metrics {
  const jobs = Object.values(config.jobs);
  const begunAt = new Date();
  return createMetrics({
    ...process,
    version: readVersion(),
    readGauges: cached(() =>
      readGauges(db, { jobs: Object.keys(config.jobs), sources: Object.keys(config.sources) }),
    ),
    nextSlots: () => nextSlots(jobs, new Date()).flatMap(({ job, at }) => (at === null ? [] : [{ job, at }])),
    overdue: (lastBegunAt) => findOverdue(jobs, { now: new Date(), since: begunAt, lastBegunAt }),
    beyondBudget: (name, counts) => {
      const job = config.jobs[name];
      return job === undefined ? null : (kindOf(job).watched?.beyondBudget?.(counts) ?? null);
    },
  });
}
