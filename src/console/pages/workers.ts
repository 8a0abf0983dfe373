import { UNIT_KINDS } from '../../core/work.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html, prose } from '../../render/html/html.ts';
import { formatCount, formatDuration, plural } from '../../render/text.ts';
import {
  commandOfUnit,
  describeUnit,
  type FailedUnits,
  listFailedUnits,
  listRegisteredWorkers,
  type RegisteredWorker,
  type RunUnits,
  readUnitQueues,
  type UnitInHand,
  type UnitQueue,
} from '../../reports/runs/read-units.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm } from '../markup/action-form.ts';
import { anchor, badge, noted, table } from '../markup/parts.ts';
import { PAGE_ROWS } from '../read-query.ts';

/** More workers than most deployments have. */
const SHOWN_WORKERS = 200;

/** Which processes do parts of runs, what waits for them, and what failed. */
export const workersPage = definePage('/workers', async (visit) => {
  const { db, config } = visit;
  const [workers, queues, failed] = await Promise.all([
    listRegisteredWorkers(db, { limit: SHOWN_WORKERS + 1 }),
    readUnitQueues(db, UNIT_KINDS),
    listFailedUnits(db, { limit: PAGE_ROWS + 1 }),
  ]);
  const isOff = config.work.engine !== 'pg-boss' || config.database.url === '';
  const isUnused = workers.length === 0 && failed.length === 0;
  return {
    title: 'Workers',
    content: html`${isOff ? howToTurnOn(visit) : null}${isOff && isUnused ? null : content({ workers, queues, failed }, { visit, isOff })}`,
  };
});

function howToTurnOn({ config }: Visit): Html {
  const isEmbedded = config.database.url === '';
  return html`<p class="notice">${
    isEmbedded
      ? 'Only one process at a time can open the embedded database, so each run does all of its work itself.'
      : html`Each run does all of its work itself (<code>work.engine: ${config.work.engine}</code>).`
  } To let other processes do parts of it, ${isEmbedded ? html`set <code>DATABASE_URL</code> to a Postgres server and ` : null}set <code>work: {engine: pg-boss}</code> in the configuration of all processes, restart them, and start <code>npx influencer-sync work</code> on any machine.</p>
`;
}

type Shown = {
  readonly workers: readonly RegisteredWorker[];
  readonly queues: readonly UnitQueue[];
  readonly failed: readonly FailedUnits[];
};

function content(
  { workers, queues, failed }: Shown,
  { visit, isOff }: { visit: Visit; isOff: boolean },
): Html {
  const isAnyAlive = workers.some(({ isAlive, drainingSince }) => isAlive && drainingSince === null);
  return html`${
    isAnyAlive || isOff
      ? null
      : html`<p class="notice">No worker runs now, so each run does all of its work itself. <code>npx influencer-sync work</code> starts one; <code>serve</code> is one too, unless <code>work.serve_works</code> is <code>false</code>.</p>
`
  }<h2>Workers</h2>
${table(
  {
    rows: workers,
    about: 'Workers',
    none: 'No worker is registered.',
    most: SHOWN_WORKERS,
    others: html`more; <code>npx influencer-sync status</code> lists all that run`,
  },
  [
    column('Worker', ({ host, pid }) => noted(host, `process ${pid}`)),
    column('State', (worker) => stateOf(worker, visit)),
    column('Version', ({ version }) => version),
    column('Since', ({ startedAt }) => visit.instant(startedAt)),
    column('Heartbeat', ({ seenAt }) => agoOf(seenAt, visit)),
    column('Takes', ({ kinds, concurrency }) =>
      noted(kinds.join(', '), `${formatCount(concurrency)} of each at a time`),
    ),
    column('Doing', (worker) => doingOf(worker, visit)),
  ],
)}
<h2>Queues</h2>
${table({ rows: queues, about: 'Queues' }, [
  column('Kind', ({ kind }) => kind),
  column('What a unit does', ({ kind }) => DOES[kind] ?? null),
  number('At a time', ({ places }) => formatCount(places)),
  number('Being done', ({ active }) => formatCount(active)),
  number('Waiting', ({ waiting }) => formatCount(waiting)),
  column('Oldest waits since', ({ oldest }) =>
    oldest === null ? null : noted(visit.instant(oldest), agoOf(oldest, visit)),
  ),
  number('Failed', ({ failed }) => formatCount(failed)),
])}
<h2>Failed units <small>of the last seven days, newest first</small></h2>
${table(
  { rows: failed, about: 'Failed units', none: 'No unit failed.', most: PAGE_ROWS, others: 'older ones' },
  [
    column('When', ({ at }) => visit.instant(at)),
    column('Run', ({ job, runId }) => anchor(visit.link(`/runs/${runId}`), `${job}, run ${runId}`)),
    column(
      'What',
      (group) =>
        html`${badge(group.state)} ${describeUnit(group)} <small>${plural(group.units, 'unit')}</small>`,
    ),
    column('Why', whyOf),
    column('Retry', (group) => retryOf(group, visit)),
  ],
)}`;
}

function stateOf({ isAlive, drainingSince, units }: RegisteredWorker, visit: Visit): Html {
  if (!isAlive) return noted(badge('lost'), 'other workers do its units');
  if (drainingSince !== null)
    return noted(badge('stopping'), html`since ${visit.instant(drainingSince)}; it begins no more units`);
  return badge(units > 0 ? 'working' : 'idle');
}

function agoOf(at: Date | string, { now }: Visit): string {
  return `${formatDuration(Math.max(0, (now.getTime() - new Date(at).getTime()) / 1_000))} ago`;
}

function doingOf({ inHand, units }: RegisteredWorker, visit: Visit): Html | null {
  if (inHand.length === 0) return null;
  const more = units - inHand.length;
  return html`${inHand.map((unit) => html`<div>${unitOf(unit, visit)}</div>`)}${more > 0 ? html`<div class="dim">and ${formatCount(more)} more</div>` : null}`;
}

function unitOf(unit: UnitInHand, visit: Visit): Html {
  return html`${anchor(visit.link(`/runs/${unit.runId}`), `${unit.job}, run ${unit.runId}`)}: ${describeUnit(unit)} <small>${unitCount(unit.kind, unit.done)}, began ${agoOf(unit.begunAt, visit)}</small>`;
}

function whyOf({ message, help, host, pid }: FailedUnits): Html {
  if (message !== null) return html`${message}${help === null ? null : html` <small>${prose(help)}</small>`}`;
  const worker = host === null ? 'its workers' : `process ${pid} on ${host}`;
  return html`Its worker ended without a result three times, so no other worker may begin it. <small>The log of ${worker} says more.</small>`;
}

/** A later run does what failed, and repeats nothing that was done. Only a process can continue a backfill. */
function retryOf(group: FailedUnits, visit: Visit): Html {
  const { job, kind, laterRunId, backfillId } = group;
  if (laterRunId !== null)
    return html`${anchor(visit.link(`/runs/${laterRunId}`), `run ${laterRunId}`)} has started since`;
  const settings = visit.config.jobs[job];
  if (settings === undefined) return html`<span class="dim">The configuration has no job ${job}.</span>`;
  const command = html`<code>${commandOfUnit(group)}</code>`;
  if (kind === 'post-backfill')
    return html`${anchor(visit.link(`/backfills/${backfillId}`), `backfill ${backfillId}`)}: ${command}`;
  if ((settings.schedule === null && settings.after === null) || !visit.may('POST /schedules/run-now'))
    return command;
  return html`<details><summary>Run it again</summary>${actionForm(visit, '/schedules/run-now', { hidden: { job }, button: `Run now: ${job}` })}</details>`;
}

/** What a unit of each kind does. */
const DOES: Readonly<Record<string, string>> = {
  'read-source': 'reads the new files of a source',
  'post-share': 'posts a share of the orders of a run',
  'post-backfill': 'posts a share of the orders of a backfill',
  'fetch-deals': 'reads a share of the deals of a mirror',
  'submit-batches': 'submits a share of the customers of a brand',
};

const COUNTS: Readonly<Record<string, string>> = {
  'read-source': 'row',
  'fetch-deals': 'deal',
  'submit-batches': 'customer',
};

/** How much units of a kind have done: `120 orders`. */
function unitCount(kind: string, count: number): string {
  return plural(count, COUNTS[kind] ?? 'order');
}

/** Shows what a run has handed out to workers. Empty if it did all of its work itself. */
export function runUnits(units: readonly RunUnits[], visit: Visit): Html | null {
  if (units.length === 0) return null;
  return html`<h2>Done by workers <small>in units of work</small></h2>
${table({ rows: units, about: 'Units of work of the run' }, [
  column('Kind', ({ kind }) => kind),
  column('What a unit does', ({ kind }) => DOES[kind] ?? null),
  column(
    'Units done',
    ({ done, units: all }) =>
      html`<progress max="${all}" value="${done}" aria-label="Units done">${done} of ${all}</progress> ${formatCount(done)} of ${formatCount(all)}`,
  ),
  number('Being done', ({ active }) => formatCount(active)),
  number('Waiting', ({ waiting }) => formatCount(waiting)),
  number('Failed', ({ failed }) =>
    failed === 0 ? '0' : anchor(visit.link('/workers'), formatCount(failed)),
  ),
  number('Not needed', ({ cancelled }) => formatCount(cancelled)),
  number('Amount', ({ kind, counted }) => unitCount(kind, counted)),
])}
`;
}
