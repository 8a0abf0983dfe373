import { didOf, jobKinds, tallyOf } from '../../../jobs/index.ts';
import { formatMoney } from '../../core/money.ts';
import type { RunActivity, RunRequests, RunStep } from '../../core/run.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Html } from '../../core/text/html.ts';
import { type CountsBlock, column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatBytes, formatCount, formatDuration, plural } from '../../render/text.ts';
import { listRunFiles, type RunFile, type RunFiles } from '../../reports/runs/list-run-files.ts';
import { findRun, findRunBefore, type ListedRun } from '../../reports/runs/list-runs.ts';
import { readRunActivity } from '../../reports/runs/read-run-activity.ts';
import { findSlotOfRun } from '../../reports/runs/read-timeline.ts';
import { readRunUnits } from '../../reports/runs/read-units.ts';
import { answerRun, linkToTrace } from '../../reports/runs/runs.ts';
import { definePage, type Visit } from '../console-page.ts';
import { type Share, shareBar } from '../markup/bars.ts';
import { amountList, anchor, answerBox, badge, factList, instant, missing, table } from '../markup/parts.ts';
import { wordOf } from '../read-query.ts';
import { runUnits } from './workers.ts';

const SHOWN_FILES = 50;

/** One run: its files, its results, its activity, and a comparison with the previous run. */
export const runPage = definePage('/runs/:run', async (visit) => {
  const { db } = visit;
  const { run: id = '' } = visit.params;
  const run = /^\d{1,18}$/.test(id) ? await findRun(db, id) : null;
  if (run === null) return missing(`Run ${id}`, 'There is no run with this number.');
  const isReported = run.counts !== null;
  const [files, slot, before, activity, units] = await Promise.all([
    listRunFiles(db, { runId: run.runId, isReported, limit: SHOWN_FILES }),
    findSlotOfRun(db, run.runId),
    findRunBefore(db, run),
    readRunActivity(db, run.runId),
    readRunUnits(db, run.runId),
  ]);
  const byHand = run.job.startsWith('backfill:') ? 'backfill' : 'by hand';
  return {
    title: `Run ${run.runId} of ${run.job}`,
    content: html`${answerBox(answerRun(run, { did: didOf, left: leftOf(run) }), visit)}
${factList([
  ['Status', badge(run.status)],
  ['Exit code', run.exitCode === null ? null : String(run.exitCode)],
  ['Started', instant(run.startedAt, visit)],
  ['Finished', instant(run.finishedAt, visit)],
  ['Took', run.status === 'lost' ? null : formatDuration(run.seconds)],
  [
    'Due time',
    slot === null
      ? byHand
      : html`${instant(slot.slot, visit)}${slot.requestedBy === null ? null : ` requested by ${slot.requestedBy}`}${slot.attempts > 1 ? ` (${plural(slot.attempts, 'attempt')})` : null}`,
  ],
  ['Service', run.service],
  ['Trace', run.traceId === null ? null : traceOf(run.traceId, visit)],
  ['Job', anchor(visit.link('/runs', { job: run.job }), 'all its runs')],
])}
${accounting(run, visit)}
<h2>Files</h2>
${filesTable(files, run, visit)}
${runActivity(activity, run, visit)}
${runUnits(units, visit)}
<h2>Compared with the previous run</h2>
${before === null ? html`<p class="none">This is the first run of ${run.job}.</p>` : compareRuns(before, run, visit)}`,
  };
});

function leftOf({ kind, counts }: ListedRun): readonly string[] {
  const { watched } = jobKinds.find((one) => one.kind === kind) ?? {};
  return counts === null ? [] : (watched?.leftForPerson?.(counts) ?? []);
}

/** The trace id, as a link if the configuration has an address for traces. */
function traceOf(traceId: string, { config }: Visit): Html | string {
  return config.console.traceUrl === '' ? traceId : anchor(linkToTrace(traceId, config), traceId);
}

/** What became of every row that the run read, and of every item that the job knows afterwards, each counted once. */
function accounting(run: ListedRun, visit: Visit): Html {
  if (run.counts === null)
    return html`<h2>Accounting</h2>
<p class="none">${run.status === 'running' ? 'The counts appear when the run ends.' : 'The run ended before it counted. The next run counts what it read.'}</p>
`;
  const { counts } = run;
  const sum = tallyOf(run.kind, counts);
  return html`<h2>Accounting</h2>
${
  !hasRows(counts) || counts.rows === 0
    ? html`<p class="none">The run read no rows.</p>`
    : html`<h3>${plural(counts.rows, 'row')} of ${plural(counts.files, 'file')}</h3>
${shareBar(
  [
    { name: 'used', count: counts.rows - counts.rejected_rows },
    {
      name: 'rejected',
      count: counts.rejected_rows,
      href: visit.link('/rejected', { run: run.runId }),
    },
  ],
  { label: 'Rows of its files' },
)}`
}
${
  sum === null || sum.count === 0
    ? null
    : html`<h3>${sum.whole} <small>after this run, each counted once</small></h3>
${shareBar(outcomes(sum), { label: `Results of ${sum.whole}` })}`
}
${
  (run.amounts ?? []).length === 0
    ? null
    : html`<p>Accepted in this run: ${amountList((run.amounts ?? []).map(({ currency, accepted }) => ({ currency, amount: accepted })))}</p>`
}
`;
}

/** The outcomes of a run. Items in no outcome were lost, so they are shown as unaccounted for. */
function outcomes({ count: whole, lines, parts = lines }: CountsBlock): readonly Share[] {
  const counted = parts.reduce((sum, [, count]) => sum + count, 0);
  return [...parts, ['unaccounted for', whole - counted] as const].map(([name, count]) => ({ name, count }));
}

type RowCounts = { readonly files: number; readonly rows: number; readonly rejected_rows: number };

function hasRows(counts: object): counts is RowCounts {
  return ['files', 'rows', 'rejected_rows'].every(
    (name) => typeof (counts as Readonly<Record<string, unknown>>)[name] === 'number',
  );
}

function fileHref({ source, uri }: RunFile, visit: Visit): string {
  return visit.link('/files', { source, file: fileName(uri) });
}

function filesTable({ files, total }: RunFiles, run: ListedRun, visit: Visit): Html {
  const shown = table({ rows: files, about: 'Files of the run', none: 'The run read no new files.' }, [
    column('File', (file) => anchor(fileHref(file, visit), fileName(file.uri))),
    column('Source', ({ source }) => source),
    column(
      'State',
      ({ state, holdMessage }) =>
        html`${badge(state)}${holdMessage === null ? null : html` <small>${holdMessage}</small>`}`,
    ),
    number('Rows', ({ rows }) => (rows === null ? '' : formatCount(rows))),
    number('Rejected', ({ rejectedRows, runId }) =>
      rejectedRows === 0 ? '0' : anchor(visit.link('/rejected', { run: runId }), formatCount(rejectedRows)),
    ),
    column('Read by', ({ runId }) =>
      runId === run.runId
        ? 'this run'
        : html`${anchor(visit.link(`/runs/${runId}`), `run ${runId}`)}, which ended before its report`,
    ),
  ]);
  return total > files.length
    ? html`${shown}<p class="dim">and ${formatCount(total - files.length)} more, with fewer rows</p>`
    : shown;
}

type Compared = {
  readonly name: string;
  readonly before: Html | string;
  readonly now: Html | string;
  readonly difference: string;
};

/** Compares two runs of a job: status, duration, and the counts that differ. */
function compareRuns(before: ListedRun, now: ListedRun, visit: Visit): Html {
  const rows: readonly Compared[] = [
    { name: 'Status', before: badge(before.status), now: badge(now.status), difference: '' },
    {
      name: 'Took',
      before: formatDuration(before.seconds),
      now: formatDuration(now.seconds),
      difference: '',
    },
    ...compareCounts(before.counts, now.counts),
    ...compareAmounts(before, now),
  ];
  const about = `Run ${now.runId} compared with run ${before.runId}`;
  return html`<p>Run ${anchor(visit.link(`/runs/${before.runId}`), before.runId)} is the one before.${before.counts === null ? ' It stored no counts.' : null}</p>
${table({ rows, about, none: 'Nothing to compare.' }, [
  column('What', ({ name }: Compared) => name),
  number(`Run ${before.runId}`, (row) => row.before),
  number(`Run ${now.runId}`, (row) => row.now),
  number('Difference', ({ difference }) => difference),
])}`;
}

function compareCounts(before: object | null, now: object | null): readonly Compared[] {
  const [old, current] = [flatten(before ?? {}), flatten(now ?? {})];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((name) => {
    const [one, other] = [old.get(name), current.get(name)];
    // What a run does not count is 0 of it: a job's counts may have grown since.
    if ((one ?? 0) === (other ?? 0)) return [];
    return {
      name: name.split(': ').map(wordOf).join(': '),
      before: shown(one),
      now: shown(other),
      difference:
        typeof one === 'number' && typeof other === 'number' && one !== other
          ? `${other > one ? '+' : '−'}${formatCount(Math.abs(other - one))}`
          : '',
    };
  });
}

/** Flattens counts: `{entries: {accepted: 3}}` becomes `entries: accepted` with 3. */
function flatten(counts: object, prefix = ''): ReadonlyMap<string, unknown> {
  return new Map(
    Object.entries(counts).flatMap(([name, value]: [string, unknown]) =>
      typeof value === 'object' && value !== null
        ? [...flatten(value, `${prefix}${name}: `)]
        : [[`${prefix}${name}`, value] as const],
    ),
  );
}

function shown(value: unknown): string {
  if (typeof value === 'number') return formatCount(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : '';
}

/** One row per currency. Amounts are exact text, so no difference is computed. */
function compareAmounts(before: ListedRun, now: ListedRun): readonly Compared[] {
  const [old, current] = [before.amounts ?? [], now.amounts ?? []];
  const currencies = [...new Set([...current, ...old].map(({ currency }) => currency))].sort();
  const amountIn = (amounts: typeof old, currency: string): string => {
    const found = amounts.find((one) => one.currency === currency);
    return found === undefined ? '' : formatMoney(found.accepted, currency);
  };
  return currencies.map((currency) => ({
    name: `${wordOf('accepted')}, ${currency}`,
    before: amountIn(old, currency),
    now: amountIn(current, currency),
    difference: '',
  }));
}

/** Shows what a run did: steps, requests and messages. */
function runActivity({ steps, requests, messages }: RunActivity, run: ListedRun, visit: Visit): Html {
  return html`<h2>Steps</h2>
${table({ rows: steps, about: 'Steps of the run', none: 'No steps were recorded.' }, [
  column(
    'Step',
    ({ label, times }) =>
      html`${label}${times > 1 ? html` <small>and ${formatCount(times - 1)} more</small>` : null}`,
  ),
  column('Began', ({ startedAt }) => instant(startedAt, visit, { seconds: true })),
  number('Took', (step) => html`${formatSeconds(step.seconds)}${endOf(step, run)}`),
  number('Done', describeDone),
  column('Unit', ({ unit }) => unit),
])}
<h2>Requests to the service</h2>
${table({ rows: requests, about: 'Requests of the run', none: 'The run sent no requests.' }, [
  column('Operation', ({ operation }) => operation),
  ...(['requests', 'answered', 'refused', 'throttled', 'failed'] as const).map((name) =>
    number(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, (each: RunRequests) => formatCount(each[name])),
  ),
  number('Median', ({ medianMs }) => formatMs(medianMs)),
  number('95 %', ({ p95Ms }) => formatMs(p95Ms)),
  number('Slowest', ({ slowestMs }) => formatMs(slowestMs)),
])}
<h2>Messages</h2>
${
  messages.length === 0
    ? html`<p class="none">The run wrote no messages.</p>`
    : html`<ol class="messages">${messages.map(({ at, message }) => html`<li>${instant(at, visit, { seconds: true })} ${message}</li>`)}</ol>`
}
`;
}

/** A step without an end is the current one, or the one in which the process died. */
function endOf({ finishedAt }: RunStep, { status }: ListedRun): string | null {
  if (finishedAt !== null) return null;
  return status === 'running' ? ' so far' : '; the process died during this step';
}

function describeDone({ done, total, unit }: RunStep): string {
  const format = unit === 'bytes' ? formatBytes : formatCount;
  if (total === null) return done === 0 ? '' : format(done);
  return done === total ? format(done) : `${format(done)} of ${format(total)}`;
}

function formatSeconds(seconds: number): string {
  return seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${formatCount(Math.round(ms))} ms`;
}
