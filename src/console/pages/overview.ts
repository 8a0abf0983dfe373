import type { Html } from '../../core/text/html.ts';
import { findContinuityProblem } from '../../ledger/continuity/compare-ledger.ts';
import { nextSlots } from '../../ops/schedule/next-slots.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount, formatDuration } from '../../render/text.ts';
import { countRejected } from '../../reports/files/list-rejected.ts';
import { listOpenProblems } from '../../reports/notices/list-notices.ts';
import {
  type Credited,
  type Days,
  findLastDay,
  type JobHealth,
  type OutcomeOfDay,
  readCredited,
  readJobHealth,
  readOutcomesByDay,
  readWaitingOrders,
} from '../../reports/status/read-overview.ts';
import { readNeeds } from '../../reports/status/read-status.ts';
import type { Backlog } from '../../rollups/backlog.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { needsOfPerson } from '../markup/needs-of-person.ts';
import { amountList, anchor, badge, countOf, instant, table } from '../markup/parts.ts';
import { problemTable } from '../markup/problem-table.ts';
import { COUNT_LIMIT, dayOf } from '../read-query.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What needs a person now, the state of the jobs, and the outcomes of recent orders. */
export const overviewPage: ConsolePage = {
  path: '/',
  navigation: 'Overview',
  async show(visit) {
    const { db, now } = visit;
    const to = dayOf(visit, 'until') ?? (await findLastDay(db, now)) ?? now.toISOString().slice(0, 10);
    const days = { from: addDays(to, 1 - DAYS), to };
    const [lost, problems, needs, health, rejectedRows, waitingOrders, outcomes, credited] =
      await Promise.all([
        findContinuityProblem(db, visit.config),
        listOpenProblems(db),
        readNeeds(db, { sources: Object.keys(visit.config.sources), limit: COUNT_LIMIT }),
        readJobHealth(db),
        countRejected(db, { limit: COUNT_LIMIT }),
        readWaitingOrders(db),
        readOutcomesByDay(db, days),
        readCredited(db, days),
      ]);
    return {
      title: 'Overview',
      content: html`${lost === null ? null : html`<p class="notice red" role="alert">${lost.details.message} Nothing is posted, and nothing can be changed here, until this is settled. ${lost.details.help}</p>`}<h2>Needs a person</h2>
${needsOfPerson({ needs, waitingOrders, rejectedRows }, visit)}
${visit.config.notify.channels.length === 0 ? null : html`<h2>Open problems</h2>${problemTable(problems, visit)}`}
<h2>Jobs</h2>
${jobsTable(health, visit)}
<h2>Orders by disposition <small>${days.from} to ${days.to}, days in UTC</small></h2>
<p>${anchor(visit.link('/', { until: addDays(to, -DAYS) }), `${DAYS} days earlier`)}</p>
${await outcomeCharts(outcomes, days, visit)}
<h2>Credited revenue <small>on the same days</small></h2>
${creditedTable(credited, days, visit)}
<h2>Backlog</h2>
${backlogTable(needs.backlog, visit)}`,
    };
  },
};

/** Adds days to a date: `2026-04-10` and 1 give `2026-04-11`. */
function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

function jobsTable(health: readonly JobHealth[], visit: Visit): Html {
  const jobs = Object.values(visit.config.jobs);
  const slots = nextSlots(jobs, visit.now);
  return table(
    jobs,
    [
      column('Job', ({ name }) => anchor(visit.link('/runs', { job: name }), name)),
      column('Last run', ({ name }) => {
        const found = health.find(({ job }) => job === name);
        return found === undefined
          ? 'has not run yet'
          : html`${anchor(visit.link(`/runs/${found.lastRunId}`), found.lastRunId)} ${badge(found.lastStatus)}`;
      }),
      column('Last success', ({ name }) => {
        const at = health.find(({ job }) => job === name)?.lastOkAt ?? null;
        if (at === null) return 'never';
        const age = formatDuration((visit.now.getTime() - at.getTime()) / 1000);
        return html`${instant(at, visit)} <small>${age} ago</small>`;
      }),
      column('Next slot', ({ name }) => {
        const slot = slots.find(({ job }) => job === name);
        if (slot === undefined) return 'no schedule';
        if (slot.after !== null) return html`after ${slot.after}`;
        return instant(slot.at, visit);
      }),
      number('Missed, 7 days', ({ name }) => {
        const missed = health.find(({ job }) => job === name)?.missedSlots ?? 0;
        return missed === 0 ? '0' : anchor(visit.link('/schedules', { job: name }), formatCount(missed));
      }),
    ],
    { about: 'Jobs', none: 'The configuration has no jobs.' },
  );
}

/**
 * All outcomes in a fixed order, good ones first. The position of an outcome determines its colour, so that
 * it is the same in all charts.
 */
const OUTCOMES = [
  'accepted',
  'ready',
  'unattributed',
  'excluded',
  'in_doubt',
  'organic',
  'rejected',
  'held',
  'unaccounted',
];

async function outcomeCharts(outcomes: readonly OutcomeOfDay[], { from }: Days, visit: Visit): Promise<Html> {
  const jobs = [...new Set(outcomes.map(({ job }) => job))].sort();
  if (jobs.length === 0) return html`<p class="none">No orders in these days.</p>`;
  const { stackedBars } = await import('../markup/stacked-bars.ts');
  const days = Array.from({ length: DAYS }, (_, index) => addDays(from, index));
  return html`${jobs.map((job) => {
    const mine = outcomes.filter((one) => one.job === job);
    const series = OUTCOMES.filter((name) => mine.some(({ disposition }) => disposition === name)).map(
      (name) => ({
        name,
        color: OUTCOMES.indexOf(name),
        counts: days.map(
          (day) => mine.find((one) => one.day === day && one.disposition === name)?.orders ?? 0,
        ),
      }),
    );
    return html`<h3>${job}</h3>${stackedBars(days, series, {
      title: `Orders of ${job} by day and disposition`,
      href: (day, disposition) => visit.link('/orders', { job, disposition, from: day, to: day }),
    })}`;
  })}`;
}

function creditedTable(credited: readonly Credited[], days: Days, visit: Visit): Html {
  return table(
    credited,
    [
      column('Job', ({ job }) => job),
      number('Orders', ({ job, orders }) =>
        anchor(visit.link('/orders', { job, disposition: 'accepted', ...days }), formatCount(orders)),
      ),
      number('Revenue', ({ amount, currency }) => amountList([{ amount, currency }])),
    ],
    { about: 'Credited revenue', none: 'Nothing was credited in these days.' },
  );
}

function backlogTable(backlog: readonly Backlog[], visit: Visit): Html {
  return table(
    backlog.filter(({ state }) => state === 'ready' || state === 'sending'),
    [
      column('Job', ({ job }) => job),
      column('Of', ({ backfillId }) =>
        backfillId === null
          ? 'its runs'
          : anchor(visit.link(`/backfills/${backfillId}`), `backfill ${backfillId}`),
      ),
      column('State', ({ state }) => badge(state)),
      number('Entries', ({ entries, isPart }) => countOf(entries, isPart)),
      number(
        'Amount',
        ({ amount, currency, isPart }) =>
          html`${isPart ? 'more than ' : null}${amountList([{ amount, currency }])}`,
      ),
      column(
        'Oldest',
        ({ oldest }) =>
          html`${instant(oldest, visit)} <small>${formatDuration((visit.now.getTime() - oldest.getTime()) / 1000)}</small>`,
      ),
    ],
    { about: 'Entries that wait to be sent', none: 'Nothing waits to be sent.' },
  );
}
