import { listBackfills, readBackfill } from '../../../jobs/attribute-orders/backfill/backfills.ts';
import { CANCELLABLE } from '../../../jobs/attribute-orders/backfill/change-backfill.ts';
import {
  paceOf,
  planMonths,
  planTally,
  progressOf,
  stateOf,
} from '../../../jobs/attribute-orders/backfill/render.ts';
import {
  type BackfillProgress,
  readBackfillProgress,
} from '../../../jobs/attribute-orders/backfill/report.ts';
import { kindOf } from '../../../jobs/index.ts';
import { type Backfill, backfillRunName } from '../../core/backfill.ts';
import { fileName } from '../../core/text/file-name.ts';
import { column, number } from '../../render/block.ts';
import { type Html, html } from '../../render/html/html.ts';
import { formatCount } from '../../render/text.ts';
import { definePage, type Visit } from '../console-page.ts';
import { actionForm } from '../markup/action-form.ts';
import { byText, readFilter } from '../markup/filter.ts';
import { anchor, badge, blockList, factList, missing, pagedTable, table } from '../markup/parts.ts';
import { COUNT_LIMIT, pageOf } from '../read-query.ts';

const PATH = '/backfills';

/** All backfills with their progress. */
export const backfillsPage = definePage(PATH, async (visit) => {
  const jobs = Object.values(visit.config.jobs).filter((one) => kindOf(one).backfill === 'by_days');
  const { filter, form } = readFilter(visit, {
    job: byText(
      'Job',
      jobs.map(({ name }) => name),
    ),
  });
  const found = await listBackfills(visit.db, {
    ...(filter.job === null ? {} : { job: filter.job }),
    ...pageOf(visit),
  });
  const rows = [];
  for (const backfill of found) rows.push(await readRow(visit, backfill));
  return {
    title: 'Backfills',
    content: html`<p>A backfill credits the orders of a past period, exactly as its plan says. You make a plan with <code>npx influencer-sync backfill &lt;job&gt; --from … --to … --plan</code>.</p>
${form()}
${pagedTable(
  {
    rows,
    visit,
    about: 'Backfills',
    none: 'There are no backfills yet.',
    key: ({ backfill }) => backfill.backfillId,
  },
  [
    column('Backfill', ({ backfill: { backfillId } }) =>
      anchor(visit.link(`${PATH}/${backfillId}`), backfillId),
    ),
    column('Job', ({ backfill }) => backfill.job),
    column('State', ({ state }) => badge(state)),
    column('Days', ({ backfill: { period } }) => `${period.fromDay} – ${period.toDay}`),
    column('Planned', ({ backfill }) => visit.instant(backfill.plannedAt)),
    number('Orders', ({ orders }) => formatCount(orders)),
    number('Posted', ({ posted }) => (posted === null ? '' : formatCount(posted))),
  ],
)}`,
  };
});

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

const SHOWN_FILES = 50;

/** One backfill: its plan by month, its progress, and the actions for it. */
export const backfillPage = definePage('/backfills/:backfill', async (visit) => {
  const { backfill: id = '' } = visit.params;
  const backfill = /^\d{1,18}$/.test(id) ? await readBackfill(visit.db, id) : null;
  if (backfill === null) return missing(`Backfill ${id}`, 'There is no backfill with this number.');
  const progress = await readBackfillProgress(visit.db, backfill, { sumUpTo: COUNT_LIMIT });
  const { job, period, plan, planHash, runId, approvedBy, approvedAt, problem } = backfill;
  return {
    title: `Backfill ${backfill.backfillId} of ${job}`,
    content: html`${factList([
      ['State', badge(stateOf(backfill, progress))],
      ['Days', `${period.fromDay} to ${period.toDay}, ${period.timeZone}`],
      [
        'Planned',
        html`${visit.instant(backfill.plannedAt)} by run ${anchor(visit.link(`/runs/${runId}`), runId)}`,
      ],
      ['Approved', approvedBy === null ? null : html`${visit.instant(approvedAt)} by ${approvedBy}`],
      ['Process', progress.process === null ? null : `${progress.process.pid} on ${progress.process.host}`],
      ['Plan', planHash.slice(0, 12)],
      ['Job', anchor(visit.link('/runs', { job: backfillRunName(job) }), 'runs of its backfills')],
    ])}
${problem === null ? null : html`<p class="notice red">It stopped: ${problem.replace(/\.$/, '')}.</p>`}
${progressMarkup(backfill, progress)}
${changes(backfill, progress, visit)}
<h2>Plan</h2>
${blockList([planTally(plan)], visit)}
<h3>By month</h3>
${plan.groups.length === 0 ? html`<p class="none">The period has no orders.</p>` : blockList([planMonths(plan)], visit)}
<h3>Files</h3>
${table(
  {
    rows: plan.files,
    about: 'Files of the plan',
    none: 'No file has orders in the period.',
    most: SHOWN_FILES,
  },
  [
    column('File', ({ uri }) => fileName(uri)),
    column('Source', ({ source }) => source),
    number('Orders', ({ orders }) => formatCount(orders)),
  ],
)}`,
  };
});

/** Empty for a plan that was never executed, because another backfill may have posted its orders. */
function progressMarkup(backfill: Backfill, progress: BackfillProgress): Html | null {
  if (backfill.approvedAt === null) return null;
  const pace = paceOf(backfill, progress);
  return html`<h2>Progress</h2>
<p><progress max="${Math.max(1, progress.planned)}" value="${progress.planned - progress.toPost}" aria-label="Orders that are done">${progress.planned - progress.toPost} of ${progress.planned}</progress></p>
<p>${progressOf(progress)}${pace === null ? null : ` ${pace}.`}</p>
`;
}

/**
 * The actions for a backfill. Only a process can post, so the page names the command where a new process is
 * needed.
 */
function changes(backfill: Backfill, { process }: BackfillProgress, visit: Visit): Html | null {
  const { backfillId, state } = backfill;
  if (!CANCELLABLE.includes(state)) return null;
  const form = (path: 'pause' | 'resume' | 'cancel', label: string, reasonLabel: string): Html =>
    actionForm(visit, `/backfills/${path}`, { hidden: { backfill: backfillId }, reasonLabel, button: label });
  const what =
    state === 'planned'
      ? 'To execute exactly this plan, run'
      : 'No process is working on it. To continue, run';
  return html`<h2>Change</h2>
${state === 'planned' || process === null ? html`<p>${what} <code>npx influencer-sync backfill resume ${backfillId}</code>.</p>` : null}
${state === 'running' ? html`<h3>Pause</h3><p>Requests in flight are finished first.</p>${form('pause', 'Pause', 'Why')}` : null}
${state === 'paused' && process !== null ? html`<h3>Resume</h3>${form('resume', 'Resume', 'Why')}` : null}
<h3>Cancel</h3><p>It posts no more orders. What it has posted stays so, and you can plan the rest again.</p>${actionForm(visit, '/backfills/cancel', { hidden: { backfill: backfillId }, button: 'Cancel the backfill', confirm: 'It cannot be continued afterwards.' })}`;
}
