import type { JobSettings } from '../../config/job-fields.ts';
import { openCalendar } from '../../ops/schedule/calendar.ts';
import { column } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { isServed, listPausedJobs, listSlots, type PausedJob } from '../../reports/runs/list-slots.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actColumn, actionForm, notOffered } from '../markup/action-form.ts';
import { byDay, byOption, byText, readFilter } from '../markup/filter.ts';
import { anchor, badge, noted, pagedTable, table, zonedTime } from '../markup/parts.ts';
import { keyedPageOf } from '../read-query.ts';

const STATES = ['done', 'failed', 'missed', 'skipped', 'late', 'running', 'due', 'waiting'];
const SHOWN_SLOTS = 3;

/** When each job runs next, and the results of its slots. */
export const schedulesPage = definePage('/schedules', async (visit) => {
  const { db } = visit;
  const { filter, form } = readFilter(visit, {
    job: byText('Job', Object.keys(visit.config.jobs)),
    state: byOption('State', STATES),
    from: byDay('From'),
    to: byDay('To'),
  });
  const [paused, served, slots] = await Promise.all([
    listPausedJobs(db),
    isServed(db),
    listSlots(db, { ...filter, ...keyedPageOf(visit, { slot: 'instant', job: 'text' }) }),
  ]);
  const isScheduled = Object.values(visit.config.jobs).some(({ schedule }) => schedule !== null);
  return {
    title: 'Schedules',
    content: html`${served || !isScheduled ? null : html`<p class="notice red">No process runs jobs on schedule now. <code>npx influencer-sync serve</code> does.</p>`}
<h2>Jobs</h2>
${jobsTable(paused, visit)}
<h2>Due times <small>newest first, days in UTC</small></h2>
${form()}
${pagedTable(
  {
    rows: slots,
    visit,
    about: 'Due times',
    none: html`None yet: <code>serve</code> records each slot when it is due.`,
    key: ['slot', 'job'],
  },
  [
    column('Due time', ({ slot }) => visit.instant(slot)),
    column('Job', ({ job }) => job),
    column('State', ({ state }) => badge(state)),
    column(
      'Why',
      ({ reason, requestedBy }) =>
        html`${requestedBy === null ? null : `requested by ${requestedBy}`}${requestedBy !== null && reason !== null ? ': ' : null}${reason}`,
    ),
    column('Run', ({ runId }) => (runId === null ? null : anchor(visit.link(`/runs/${runId}`), runId))),
  ],
)}`,
  };
});

function jobsTable(paused: readonly PausedJob[], visit: Visit): Html {
  const { jobs } = visit.config;
  const gone = paused.filter(({ job }) => jobs[job] === undefined);
  return html`${table(
    { rows: Object.values(jobs), about: 'Jobs and their schedules', none: 'The configuration has no jobs.' },
    [
      column('Job', ({ name }) => anchor(visit.link('/runs', { job: name }), name)),
      column('When', whenOf),
      column('Next due times', (job) => nextOf(job, visit)),
      column('State', ({ name }) => pauseOf(paused, name, visit)),
      actColumn(visit, '/schedules/run-now', ['Change', (job) => changesOf(job, { paused, visit })]),
    ],
  )}${gone.map(({ job }) => html`<p>${job} is paused, and gone from the configuration. ${visit.may('POST /schedules/resume') ? resumeForm(job, visit) : null}</p>`)}${visit.may('POST /schedules/run-now') ? null : html`<p>${notOffered(visit, 'POST /schedules/run-now', 'run a job now, or pause it')}</p>`}`;
}

function whenOf({ schedule, timeZone, after }: JobSettings): Html | string {
  if (schedule !== null) return html`<code>${schedule}</code> <small>${timeZone}</small>`;
  return after === null ? 'no schedule' : html`after ${after}`;
}

/** The next slots in UTC, in the chosen zone, and in the zone of the schedule. */
function nextOf({ schedule, timeZone }: JobSettings, visit: Visit): Html | null {
  if (schedule === null) return null;
  const calendar = openCalendar({ schedule, timeZone });
  const slots: Date[] = [];
  for (let at = calendar.next(visit.now); at !== null && slots.length < SHOWN_SLOTS; at = calendar.next(at))
    slots.push(at);
  return html`${slots.map(
    (at) =>
      html`<div>${visit.instant(at)}${timeZone === 'UTC' || timeZone === visit.zone ? null : html` <small>${zonedTime(at, timeZone)} ${timeZone}</small>`}</div>`,
  )}`;
}

function pauseOf(paused: readonly PausedJob[], job: string, visit: Visit): Html | null {
  const pause = paused.find((one) => one.job === job);
  if (pause === undefined) return null;
  return noted(
    badge('paused'),
    html`since ${visit.instant(pause.pausedAt)} by ${pause.pausedBy}: ${pause.reason}`,
  );
}

function changesOf(
  { name, schedule, after }: JobSettings,
  { paused, visit }: { paused: readonly PausedJob[]; visit: Visit },
): Html | null {
  if (schedule === null && after === null) return null;
  if (paused.some(({ job }) => job === name)) return resumeForm(name, visit);
  const forms = [
    ['/schedules/run-now', 'Run now'],
    ['/schedules/pause', 'Pause'],
  ] as const;
  return html`${forms.map(
    ([path, button]) =>
      html`<details><summary>${button}</summary>${actionForm(visit, path, { hidden: { job: name }, button: `${button}: ${name}` })}</details>`,
  )}`;
}

function resumeForm(job: string, visit: Visit): Html {
  return html`<details><summary>Resume</summary>${actionForm(visit, '/schedules/resume', { hidden: { job }, button: `Resume: ${job}` })}</details>`;
}
