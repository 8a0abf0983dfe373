import type { PipelineConfig } from '../../config/schema.ts';
import { formatAmounts } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatDuration } from '../../render/text.ts';
import type { ListedRun } from './list-runs.ts';

/**
 * Describes what a run did in a few words, from its kind and counts: `32 posted`. Empty if the kind no longer
 * exists.
 */
export type DidOfRun = (kind: string, counts: object) => string;

const LOST = 'its process does not respond; the next run of the job continues where it stopped';

/** Renders runs as a table, and below it the problems of failed runs. */
export function renderRuns(
  runs: readonly ListedRun[],
  { terminal, did }: { readonly terminal: Terminal; readonly did: DidOfRun },
): string {
  if (runs.length === 0) return 'Nothing has run yet.\n';
  const columns = [
    { title: 'run', align: 'right' },
    { title: 'job', cutAt: 'never' },
    { title: 'status', cutAt: 'never' },
    { title: 'started (UTC)', cutAt: 'never' },
    { title: 'took', align: 'right' },
    { title: 'did', cutAt: 'never' },
  ] as const;
  const rows = runs.map((run) => [
    run.runId,
    run.job,
    run.status,
    formatInstant(run.startedAt).slice(0, 16),
    run.status === 'lost' ? '' : formatDuration(run.seconds),
    describeDid(run, did),
  ]);
  const problems = runs.flatMap((run) => {
    const problem = problemOf(run);
    return problem === null
      ? []
      : [wrap(`run ${run.runId}: ${problem}`, { width: terminal.columns, indent: '  ', firstIndent: '' })];
  });
  const table = renderTable(columns, rows, { terminal });
  return `${[table, ...(problems.length === 0 ? [] : ['', ...problems])].join('\n')}\n`;
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
