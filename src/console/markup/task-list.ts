import { formatAmounts, formatAtLeast } from '../../core/money.ts';
import type { Problem, ProblemKind } from '../../core/notify/notice.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { titleOf } from '../../monitoring/notify/problems/index.ts';
import { type Html, html, prose } from '../../render/html/html.ts';
import { formatDuration } from '../../render/text.ts';
import type { Visit } from '../console-page.ts';
import { amountList } from './parts.ts';

/** What the button of a problem does. Default: it shows the run, or what else is known about it. */
const ACTS: Partial<Record<ProblemKind, string>> = {
  backfill_stopped: 'See the backfill',
  job_late: 'See the schedule',
  job_missed: 'Run it now',
  mirror_stale: 'See its runs',
  rows_rejected: 'Correct the rows',
  files_held: 'Decide about what is held',
  files_unusual: 'Look at the files',
  files_late: 'Look at the sources',
  doubts: 'Look up and settle',
  credited_twice: 'Acknowledge them',
  entries_refused: 'Correct the cause',
  orders_held: 'Decide about the orders',
  orders_restated: 'Decide what they come to',
  totals_differ: 'Compare the totals',
  bookings_held: 'Decide about them',
  claims_overdue: 'Answer them',
  codes_unowned: 'Give them an owner',
};

/** One list of what waits for a person, most urgent first: a sentence with its money, since when, and the next step. */
export function taskList(problems: readonly Problem[], visit: Visit): Html {
  if (problems.length === 0) return html`<p class="none">Nothing needs a person now.</p>`;
  return html`<ol class="tasks">${problems.map(
    (
      problem,
      index,
    ) => html`<li class="task ${problem.severity}" data-row>${taskMarkup(problem, visit, index === 0)}</li>
`,
  )}</ol>
`;
}

function taskMarkup(
  { kind, summary, amounts, withoutAmount = 0, since, page, command }: Problem,
  visit: Visit,
  isFirst: boolean,
): Html {
  const age = formatDuration((visit.now.getTime() - since.getTime()) / 1000);
  // The only page of a problem that not everybody may see.
  const isOffered = page !== '/money/payments' || visit.may('GET /money/payments');
  const act =
    page === '/' || !isOffered
      ? html`<code>${command}</code>`
      : html`<a class="button${isFirst ? ' primary' : ''}" href="${visit.config.console.basePath}${page}">${ACTS[kind] ?? (page.startsWith('/runs/') ? 'See the run' : 'See it')}</a>`;
  return html`<div><strong>${titleOf(kind)}</strong> <span class="money">${withoutAmount === 0 ? amountList(amounts) : formatAtLeast(formatAmounts(amounts), withoutAmount, 0, 'amount')}</span> <small>since ${visit.instant(kind === 'codes_unowned' ? formatInstant(since).slice(0, 10) : since)}, ${age}</small>
<p>${prose(summary)}</p></div>
<div class="act">${act}</div>`;
}
