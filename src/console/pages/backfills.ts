import { listBackfills } from '../../../jobs/attribute-orders/backfill/backfills.ts';
import { stateOf } from '../../../jobs/attribute-orders/backfill/render.ts';
import { readBackfillProgress } from '../../../jobs/attribute-orders/backfill/report.ts';
import { kindOf } from '../../../jobs/index.ts';
import type { Backfill } from '../../core/backfill.ts';
import { column, number } from '../../render/block.ts';
import { html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import type { ConsolePage, Visit } from '../console-page.ts';
import { anchor, badge, filterForm, instant, pagedTable } from '../markup/parts.ts';
import { COUNT_LIMIT, idOf, PAGE_ROWS, textOf } from '../read-query.ts';

const PATH = '/backfills';

/** All backfills with their progress. */
export const backfillsPage: ConsolePage = {
  path: PATH,
  place: 'System',
  tab: 'Backfills',
  async show(visit) {
    const job = textOf(visit, 'job');
    const found = await listBackfills(visit.db, {
      ...(job === null ? {} : { job }),
      after: idOf(visit, 'after'),
      limit: PAGE_ROWS + 1,
    });
    const rows = [];
    for (const backfill of found) rows.push(await readRow(visit, backfill));
    const jobs = Object.values(visit.config.jobs).filter((one) => kindOf(one).backfill === 'by_days');
    return {
      title: 'Backfills',
      content: html`<p>A backfill credits the orders of a past period, exactly as its plan says. You make a plan with <code>npx influencer-sync backfill &lt;job&gt; --from … --to … --plan</code>.</p>
${filterForm(visit, [{ name: 'job', label: 'Job', options: jobs.map(({ name }) => name) }])}
${pagedTable(
  rows,
  [
    column('Backfill', ({ backfill: { backfillId } }) =>
      anchor(visit.link(`${PATH}/${backfillId}`), backfillId),
    ),
    column('Job', ({ backfill }) => backfill.job),
    column('State', ({ state }) => badge(state)),
    column('Days', ({ backfill: { period } }) => `${period.fromDay} – ${period.toDay}`),
    column('Planned', ({ backfill }) => instant(backfill.plannedAt, visit)),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Posted', ({ posted }) => (posted === null ? '' : formatCount(posted))),
  ],
  {
    ...{ visit, about: 'Backfills', none: 'There are no backfills yet.' },
    keyOf: ({ backfill }) => backfill.backfillId,
  },
)}`,
    };
  },
};

/**
 * Reads a row. For a finished backfill, posted orders are counted only on its own page, because there may be
 * millions.
 */
async function readRow({ db }: Visit, backfill: Backfill) {
  const orders = backfill.plan.groups.reduce(
    (sum, group) => (group.standing === 'to_post' ? sum + group.orders : sum),
    0,
  );
  if (backfill.state !== 'running' && backfill.state !== 'paused')
    return { backfill, orders, state: backfill.state, posted: null };
  const progress = await readBackfillProgress(db, backfill, { sumUpTo: COUNT_LIMIT });
  return { backfill, orders, state: stateOf(backfill, progress), posted: progress.accepted };
}
