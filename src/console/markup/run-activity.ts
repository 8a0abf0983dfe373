import type { RunActivity, RunRequests, RunStep } from '../../core/run.ts';
import type { Html } from '../../core/text/html.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatBytes, formatCount, formatDuration } from '../../render/text.ts';
import type { ListedRun } from '../../reports/runs/list-runs.ts';
import type { Visit } from '../console-page.ts';
import { instant, table } from './parts.ts';

/** Shows what a run did: steps, requests and messages. */
export function runActivity({ steps, requests, messages }: RunActivity, run: ListedRun, visit: Visit): Html {
  return html`<h2>Steps</h2>
${table(
  steps,
  [
    column(
      'Step',
      ({ label, times }) =>
        html`${label}${times > 1 ? html` <small>and ${formatCount(times - 1)} more</small>` : null}`,
    ),
    column('Began', ({ startedAt }) => instant(startedAt, visit, { seconds: true })),
    number('Took', (step) => html`${formatSeconds(step.seconds)}${endOf(step, run)}`),
    number('Done', describeDone),
    column('Unit', ({ unit }) => unit),
  ],
  { about: 'Steps of the run', none: 'No steps were recorded.' },
)}
<h2>Requests to the service</h2>
${table(
  requests,
  [
    column('Operation', ({ operation }) => operation),
    ...(['requests', 'answered', 'refused', 'throttled', 'failed'] as const).map((name) =>
      number(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, (each: RunRequests) =>
        formatCount(each[name]),
      ),
    ),
    number('Median', ({ medianMs }) => formatMs(medianMs)),
    number('95 %', ({ p95Ms }) => formatMs(p95Ms)),
    number('Slowest', ({ slowestMs }) => formatMs(slowestMs)),
  ],
  { about: 'Requests of the run', none: 'The run sent no requests.' },
)}
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
