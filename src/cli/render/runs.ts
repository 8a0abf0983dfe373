import { formatAmounts } from '../../model/money.ts';
import type { ListedRun } from '../../report/list-runs.ts';
import { backfillDid } from './backfill.ts';
import { rendererOf } from './reports/index.ts';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';
import { formatDuration, formatInstant, wrap } from './text.ts';

const LOST = 'its process gives no sign of life; the next run of the job goes on from there';

/** Runs as a table, and why those that failed did. */
export function renderRuns(runs: readonly ListedRun[], screen: Screen): string {
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
    didOf(run),
  ]);
  const problems = runs.flatMap((run) => {
    const problem = run.status === 'lost' ? LOST : run.problem;
    return problem === null
      ? []
      : [wrap(`run ${run.runId}: ${problem}`, { width: screen.columns, indent: '  ', firstIndent: '' })];
  });
  const table = renderTable(columns, rows, { screen });
  return `${[table, ...(problems.length === 0 ? [] : ['', ...problems])].join('\n')}\n`;
}

/** `32 posted, 880.80 EUR, 267.52 GBP`. */
function didOf(run: ListedRun): string {
  if (run.counts === null) return '';
  const accepted = (run.amounts ?? []).map(({ currency, accepted: amount }) => ({ currency, amount }));
  const did = run.kind === 'backfill' ? backfillDid(run.counts) : rendererOf(run.kind).did(run.counts);
  return [did, formatAmounts(accepted)].filter((part) => part !== '').join(', ');
}
