import { formatMoney, sumMoney } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { lastDayOf, monthsUntil } from '../../core/time/month.ts';
import { nextSlots } from '../../ops/schedule/next-slots.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount, formatDuration, plural } from '../../render/text.ts';
import {
  type CreditedDay,
  findLastDay,
  type JobHealth,
  readCreditedDays,
  readJobHealth,
} from '../../reports/status/read-overview.ts';
import { type Backlog, readOpenBacklog } from '../../rollups/backlog.ts';
import { definePage, type Visit } from '../console-page.ts';
import { barChart } from '../markup/bars.ts';
import { anchor, badge, countOf } from '../markup/parts.ts';
import { taskList } from '../markup/task-list.ts';
import { COUNT_LIMIT, monthOf } from '../read-query.ts';
import { findMonthToClose } from './money/statements.ts';

/** What needs a person now, the health of each job in a line, and this month against the last. */
export const homePage = definePage('/', async (visit) => {
  const { db } = visit;
  const newest = (await findLastDay(db, visit.now)) ?? visit.now.toISOString().slice(0, 10);
  const month = monthOf(visit, 'month') ?? newest.slice(0, 7);
  const [before = month] = monthsUntil(month, 2);
  const [waiting, toClose, health, backlog, credited] = await Promise.all([
    visit.waiting(),
    visit.may('POST /statements/close') ? findMonthToClose(visit) : null,
    readJobHealth(db),
    readOpenBacklog(db, { limit: COUNT_LIMIT }),
    readCreditedDays(db, { from: `${before}-01`, to: lastDayOf(month) }),
  ]);
  return {
    title: waiting.length === 0 ? 'Nothing needs a person' : `${plural(waiting.length, 'thing')} to look at`,
    content: html`${taskList(waiting, visit)}
${toClose === null ? null : html`<div class="task ready"><p>${toClose.month} is over and can be closed. Commission: ${toClose.commission}, without fixed fees.</p><div class="act"><a class="button" href="${visit.link(`/statements/${toClose.month}`)}">Check and close it</a></div></div>`}
<h2>Jobs</h2>
${jobList(health, backlog, visit)}
${revenueOf(credited, { month, before }, visit)}`,
  };
});

function jobList(health: readonly JobHealth[], backlog: readonly Backlog[], visit: Visit): Html {
  const jobs = Object.values(visit.config.jobs);
  const slots = nextSlots(jobs, visit.now);
  return html`<ul class="health">${jobs.map(({ name }) => {
    const found = health.find(({ job }) => job === name);
    const slot = slots.find(({ job }) => job === name);
    const waits = backlog.filter(({ job, state }) => job === name && state === 'ready');
    const count = waits.reduce((sum, { entries }) => sum + entries, 0);
    const facts = [
      found === undefined ? 'has not run yet' : lastOf(found, visit),
      slot === undefined
        ? null
        : slot.after === null
          ? html`next ${visit.instant(slot.at)}`
          : `next after ${slot.after}`,
      (found?.missedSlots ?? 0) === 0
        ? null
        : anchor(
            visit.link('/schedules', { job: name, state: 'missed' }),
            `${formatCount(found?.missedSlots ?? 0)} missed in 7 days`,
          ),
      count === 0
        ? null
        : anchor(
            visit.link('/orders', { job: name, outcome: 'waiting' }),
            `${countOf(
              count,
              waits.some(({ isPart }) => isPart),
            )} waiting to be sent`,
          ),
    ].filter((fact) => fact !== null);
    return html`<li>${anchor(visit.link('/runs', { job: name }), name)} <span>${facts.map((fact, index) => html`${index === 0 ? null : ', '}${fact}`)}</span></li>
`;
  })}</ul>
`;
}

function lastOf({ lastRunId, lastStatus, lastOkAt }: JobHealth, visit: Visit): Html {
  const run = anchor(visit.link(`/runs/${lastRunId}`), html`run ${lastRunId}`);
  const age = lastOkAt === null ? null : formatDuration((visit.now.getTime() - lastOkAt.getTime()) / 1000);
  return html`${badge(lastStatus)} ${run}${age === null ? ', never finished' : `, last finished ${age} ago`}`;
}

/** The credited revenue of a month by day beside the month before, for each currency. */
function revenueOf(
  credited: readonly CreditedDay[],
  { month, before: last }: { month: string; before: string },
  visit: Visit,
): Html {
  const title = html`<h2>Credited revenue <small>${month} by day${credited.some(({ day }) => day.startsWith(last)) ? ` (bars), ${last} (line)` : ''}; days in UTC. ${anchor(visit.link('/', { month: last }), 'A month earlier')}</small></h2>`;
  const today = visit.now.toISOString().slice(0, 10);
  // The same day for all currencies, also for those without an order in the month.
  const isOver = !today.startsWith(month);
  const until = Number((isOver ? lastDayOf(month) : today).slice(8));
  if (credited.length === 0) return html`${title}<p class="none">Nothing was credited in these months.</p>`;
  return html`${title}
${[...Map.groupBy(credited, ({ currency }) => currency)].map(([currency, list]) => {
  const of = (wanted: string) => list.filter(({ day }) => day.startsWith(wanted));
  const amountOf = (day: string) => list.find((one) => one.day === day)?.amount ?? '0';
  const daysOf = (wanted: string) =>
    Array.from(
      { length: Number(lastDayOf(wanted).slice(8)) },
      (_, index) => `${wanted}-${String(index + 1).padStart(2, '0')}`,
    );
  const sum = (days: readonly CreditedDay[]) =>
    `${formatMoney(sumMoney(days.map(({ amount }) => amount)), currency)}, ${plural(
      sumOrders(days),
      'order',
    )}`;
  const past = of(last).filter(({ day }) => Number(day.slice(8)) <= until);
  const begun = isOver ? '' : `until day ${until}; ${sum(past)} until that day of ${last}, `;
  return html`<p><strong>${sum(of(month))}</strong> <small>${begun}${sum(of(last))} in all of ${last}</small></p>
${barChart(
  daysOf(month).map((day, index) => ({
    label: String(index + 1),
    value: Number(amountOf(day)),
    name: `${day}: ${formatMoney(amountOf(day), currency)}`,
    href: visit.link('/orders', { outcome: 'credited', from: day, to: day }),
  })),
  {
    label: `Credited revenue in ${currency} by day of ${month}`,
    line: of(last).length === 0 ? [] : daysOf(last).map((day) => Number(amountOf(day))),
  },
)}`;
})}`;
}
