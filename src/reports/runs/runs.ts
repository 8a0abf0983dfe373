import type { PipelineConfig } from '../../core/config.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { item, number, type Part, table, whole } from '../../render/block.ts';
import { formatDuration } from '../../render/text.ts';
import type { ListedRun } from './list-runs.ts';

/**
 * Describes what a run did in a few words, from its kind and counts: `32 posted`. Empty if the kind no longer
 * exists.
 */
export type DidOfRun = (kind: string, counts: object) => string;

const LOST = 'its process does not respond; the next run of the job continues where it stopped';

/** Describes runs as a table, and below it the problems of failed runs. */
export function describeRuns(runs: readonly ListedRun[], did: DidOfRun): readonly Part[] {
  return [
    table(runs, [
      number('run', ({ runId }) => runId),
      whole('job', ({ job }) => job),
      whole('status', ({ status }) => status),
      whole('started (UTC)', ({ startedAt }) => formatMinute(startedAt)),
      number('took', ({ status, seconds }) => (status === 'lost' ? null : formatDuration(seconds))),
      whole('did', (run) => describeDid(run, did)),
    ]),
    ...runs.flatMap((run) => {
      const problem = problemOf(run);
      return problem === null ? [] : [item(`run ${run.runId}: ${problem}`)];
    }),
  ];
}

/**
 * What a run did, with its accepted amounts: `32 posted, 880.80 EUR, 267.52 GBP`. Empty if the run stored no
 * counts.
 */
export function describeDid(run: Pick<ListedRun, 'kind' | 'counts' | 'amounts'>, did: DidOfRun): string {
  if (run.counts === null) return '';
  const accepted = (run.amounts ?? []).map(({ currency, accepted: amount }) => ({ currency, amount }));
  return [did(run.kind, run.counts), formatAmounts(accepted)].filter((part) => part !== '').join(', ');
}

/** The address of a trace, or its id if no address is configured. */
export function linkToTrace(traceId: string, { console: pages }: Pick<PipelineConfig, 'console'>): string {
  return pages.traceUrl === '' ? traceId : pages.traceUrl.replaceAll('{trace_id}', traceId);
}

/** Why a run did not complete; null if it did. */
export function problemOf({ status, problem }: Pick<ListedRun, 'status' | 'problem'>): string | null {
  return status === 'lost' ? LOST : problem;
}
