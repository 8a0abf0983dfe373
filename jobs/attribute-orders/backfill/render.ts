import type {
  Backfill,
  BackfillRunCounts,
  PlanChanges,
  PlanGroup,
  PlanStanding,
} from '../../../src/core/backfill.ts';
import { formatAmounts } from '../../../src/core/money.ts';
import { fileName } from '../../../src/core/text/file-name.ts';
import { formatInstant } from '../../../src/core/text/format-instant.ts';
import { wrap } from '../../../src/core/text/wrap.ts';
import type { CountLine } from '../../../src/render/block.ts';
import { formatReasons, formatSum, renderCounts, renderItem } from '../../../src/render/render-blocks.ts';
import { renderTable } from '../../../src/render/table.ts';
import type { Terminal } from '../../../src/render/terminal.ts';
import { formatCount, formatDuration, plural } from '../../../src/render/text.ts';
import type { BackfillProgress } from './report.ts';

const LINES: readonly {
  readonly standing: PlanStanding;
  readonly label: string;
  readonly note: (groups: readonly PlanGroup[]) => string;
}[] = [
  { standing: 'to_post', label: 'to be posted', note: formatAmounts },
  { standing: 'already', label: 'already known', note: () => 'credited before; not posted again' },
  { standing: 'waiting', label: 'waiting', note: () => 'a run of the job posts them' },
  { standing: 'excluded', label: 'excluded', note: formatReasons },
  { standing: 'unattributed', label: 'unattributed', note: formatReasons },
  { standing: 'organic', label: 'organic', note: () => 'no code, link or handle' },
  { standing: 'held', label: 'held', note: formatReasons },
  { standing: 'rejected', label: 'refused', note: () => 'by the service, before' },
  { standing: 'in_doubt', label: 'in doubt', note: () => 'not sent again; see npx influencer-sync review' },
];

/**
 * Renders what a backfill would do: the disposition of every order of the period, what is posted month by
 * month, and how long that takes.
 */
export function renderPlan(
  backfill: Backfill,
  options: {
    readonly terminal: Terminal;
    readonly requestsPerSecond: number;
    readonly isKept: boolean;
  },
): string {
  const { terminal, requestsPerSecond, isKept } = options;
  const { backfillId, job, period, plan, planHash, state } = backfill;
  const total = sumOf(plan.groups);
  const toPost = plan.groups.filter(({ standing }) => standing === 'to_post');
  const count = sumOf(toPost);
  const days = `${period.fromDay} to ${period.toDay} (${period.timeZone})`;
  const title = `${terminal.style('bold', isKept ? `Backfill ${backfillId} of ${job}` : `Backfill of ${job}`)}, ${days}: ${terminal.style('bold', 'a plan; nothing was sent')}`;
  const seconds = requestsPerSecond === 0 ? null : count / requestsPerSecond;
  const pace =
    seconds === null
      ? ''
      : `, ${formatDuration(seconds)} at ${requestsPerSecond} a second, if no run is active`;
  return [
    title,
    `${plural(plan.files.length, 'file')} with ${plural(total, 'order')} in the period.`,
    '',
    ...standingLines(plan.groups, terminal),
    ...othersOf(backfill, terminal),
    '',
    ...(count === 0
      ? ['There is nothing to post.']
      : [monthsTable(plan.groups, terminal), '', `${plural(count, 'call')}${pace}.`]),
    terminal.style('dim', `plan ${planHash.slice(0, 12)}`),
    ...(count === 0 || state !== 'planned'
      ? []
      : isKept
        ? [
            terminal.style('dim', 'to execute exactly this:'),
            `  npx influencer-sync backfill resume ${backfillId}`,
          ]
        : [
            terminal.style('dim', 'to plan it again and execute it:'),
            `  npx influencer-sync backfill ${job} --from ${period.fromDay} --to ${period.toDay}`,
          ]),
    '',
  ].join('\n');
}

/** One line for each disposition of orders in the plan. */
export function planLines(groups: readonly PlanGroup[]): readonly CountLine[] {
  return LINES.map(({ standing, label, note }): CountLine => {
    const some = groups.filter((group) => group.standing === standing);
    return [label, sumOf(some), { note: note(some), always: standing === 'to_post' }];
  });
}

function standingLines(groups: readonly PlanGroup[], terminal: Terminal): readonly string[] {
  return renderCounts(planLines(groups), { labelWidth: 16, total: sumOf(groups), countWidth: 9, terminal });
}

function othersOf({ plan }: Backfill, terminal: Terminal): readonly string[] {
  const lines = [
    plan.ofTheRuns === 0
      ? ''
      : `${plural(plan.ofTheRuns, 'order')} in the period ${plan.ofTheRuns === 1 ? 'was' : 'were'} placed on or after start_date. The runs of the job credit ${plan.ofTheRuns === 1 ? 'it' : 'them'}.`,
    plan.undated === 0
      ? ''
      : `${plural(plan.undated, 'order')} in the exports ${plan.undated === 1 ? 'has' : 'have'} no date, and ${plan.undated === 1 ? 'belongs' : 'belong'} to no period.`,
  ].filter((line) => line !== '');
  return lines.map((line) => wrap(line, { width: terminal.columns, indent: '  ' }));
}

function monthsTable(groups: readonly PlanGroup[], terminal: Terminal): string {
  const columns = [
    { title: 'month', cutAt: 'never' },
    { title: 'to post', align: 'right' },
    { title: 'known', align: 'right' },
    { title: 'others', align: 'right' },
    { title: 'revenue to post' },
  ] as const;
  const rows = planMonths(groups).map(({ month, toPost, known, others, revenue }) => [
    month,
    ...[toPost, known, others].map(formatCount),
    revenue,
  ]);
  return renderTable(columns, rows, { terminal, indent: '  ' });
}

/** What the plan does with the orders of one month. */
export type PlanMonth = {
  /** `2023-04`. */
  readonly month: string;
  readonly toPost: number;
  readonly known: number;
  readonly others: number;
  /** Revenue of the orders to post, one amount per currency. */
  readonly revenue: string;
};

export function planMonths(groups: readonly PlanGroup[]): readonly PlanMonth[] {
  const months = [...new Set(groups.map(({ month }) => month))].sort();
  return months.map((month) => {
    const some = groups.filter((group) => group.month === month);
    const toPost = some.filter(({ standing }) => standing === 'to_post');
    const known = sumOf(some.filter(({ standing }) => standing === 'already'));
    const others = sumOf(some) - sumOf(toPost) - known;
    return { month, toPost: sumOf(toPost), known, others, revenue: formatAmounts(toPost) };
  });
}

/** Describes the differences from a plan as parts of a sentence. */
export function describeChanges({ more, fewer, other, files }: PlanChanges): readonly string[] {
  const named = (examples: readonly string[], orders: number): string =>
    `(${examples.join(', ')}${orders > examples.length ? ', …' : ''})`;
  return [
    more.orders === 0
      ? ''
      : `${plural(more.orders, 'order')} more to post ${named(more.examples, more.orders)}`,
    fewer.orders === 0
      ? ''
      : `${plural(fewer.orders, 'order')} no longer to post ${named(fewer.examples, fewer.orders)}`,
    other.orders === 0
      ? ''
      : `${plural(other.orders, 'order')} with another amount or influencer ${named(other.examples, other.orders)}`,
    files.length === 0
      ? ''
      : `other files: ${files.slice(0, 3).map(fileName).join(', ')}${files.length > 3 ? ', …' : ''}`,
  ].filter((part) => part !== '');
}

export function renderChanges(changes: PlanChanges, terminal: Terminal): string {
  const lines = describeChanges(changes).map((line) => renderItem(`- ${line}`, terminal));
  return `${[terminal.style(['yellow', 'bold'], 'Changes since the previous plan:'), ...lines].join('\n')}\n`;
}

/** Renders how a backfill ended and what to do next. */
export function renderBackfillEnd(
  input: {
    readonly backfill: Backfill;
    readonly end: 'done' | 'cancelled' | 'stopped';
    readonly problem: string | null;
    readonly progress: BackfillProgress;
  },
  terminal: Terminal,
): string {
  const { backfill, end, problem, progress } = input;
  const words = { done: 'done', cancelled: 'cancelled', stopped: 'stopped; you can resume it' }[end];
  const title = `${terminal.style('bold', `Backfill ${backfill.backfillId} of ${backfill.job}`)}: ${terminal.style([end === 'done' ? 'green' : 'yellow', 'bold'], words)}`;
  const next = [
    ...(end === 'stopped' ? [`npx influencer-sync backfill resume ${backfill.backfillId}`] : []),
    ...(progress.inDoubt > 0 ? ['npx influencer-sync review'] : []),
  ].map((line) => `  ${line}`);
  return [
    title,
    ...(problem === null
      ? []
      : [terminal.style('yellow', wrap(problem, { width: terminal.columns, indent: '' }))]),
    '',
    wrap(progressOf(progress), { width: terminal.columns, indent: '  ' }),
    ...next,
    '',
  ].join('\n');
}

/** What a process did, in a few words, for lists of runs: `plan of 12 orders`, `10 posted, 2 refused`. */
export function backfillDid({ planned, entries }: BackfillRunCounts): string {
  const { accepted, rejected, in_doubt: doubts } = entries;
  if (planned !== null && accepted + rejected + doubts === 0) return `plan of ${plural(planned, 'order')}`;
  return [
    `${formatCount(accepted)} posted`,
    ...(rejected === 0 ? [] : [`${formatCount(rejected)} refused`]),
    ...(doubts === 0 ? [] : [`${formatCount(doubts)} in doubt`]),
  ].join(', ');
}

/** Renders backfills as a table, with details about those that are running or paused. */
export function renderBackfills(
  shown: readonly { readonly backfill: Backfill; readonly progress: BackfillProgress }[],
  terminal: Terminal,
): string {
  if (shown.length === 0) return 'There are no backfills yet.\n';
  const columns = [
    { title: 'id', align: 'right' },
    { title: 'job' },
    { title: 'state', cutAt: 'never' },
    { title: 'days', cutAt: 'never' },
    { title: 'planned (UTC)', cutAt: 'never' },
    { title: 'orders', align: 'right' },
    { title: 'posted', align: 'right' },
  ] as const;
  const rows = shown.map(({ backfill: { backfillId, job, state, period, plannedAt }, progress }) => [
    backfillId,
    job,
    stateOf({ state }, progress),
    `${period.fromDay} – ${period.toDay}`,
    formatInstant(plannedAt).slice(0, 16),
    formatCount(progress.planned),
    // Another plan may have posted the same orders, so a plan that was not executed shows no count.
    state === 'planned' || state === 'replaced' ? '' : formatCount(progress.accepted),
  ]);
  const active = shown
    .filter(({ backfill: { state } }) => state === 'running' || state === 'paused')
    .map((one) => wrap(aboutActive(one), { width: terminal.columns, indent: '  ', firstIndent: '' }));
  return `${[renderTable(columns, rows, { terminal }), ...(active.length === 0 ? [] : ['', ...active])].join('\n')}\n`;
}

/** The state of a backfill, or `no process` if it should have a live process but has none. */
export function stateOf(
  { state }: Pick<Backfill, 'state'>,
  { process }: Pick<BackfillProgress, 'process'>,
): string {
  return state === 'running' && process === null ? 'no process' : state;
}

/** For example `4.1 a second, 12 min left`. Null while nothing is being posted. */
export function paceOf({ state }: Pick<Backfill, 'state'>, progress: BackfillProgress): string | null {
  const perSecond = progress.answersLastMinute / 60;
  if (state !== 'running' || progress.process === null || perSecond === 0) return null;
  return `${perSecond.toFixed(1)} a second, ${formatDuration(progress.toPost / perSecond)} left`;
}

function aboutActive({ backfill, progress }: { backfill: Backfill; progress: BackfillProgress }): string {
  const { process } = progress;
  const moving = paceOf(backfill, progress);
  const pace = moving === null ? '' : ` ${moving}.`;
  const where =
    process === null
      ? ' No process is working on it. Run: npx influencer-sync backfill resume.'
      : ` Process ${process.pid} on ${process.host}.`;
  const why = backfill.problem === null ? '' : ` It stopped: ${backfill.problem.replace(/\.$/, '')}.`;
  return `Backfill ${backfill.backfillId}: ${progressOf(progress)}${pace}${where}${why}`;
}

/** For example `12 orders = 10 posted (104.00 EUR) + 2 to be posted.` */
export function progressOf(progress: BackfillProgress): string {
  const { planned, accepted, toPost, rejected, inDoubt, held, amounts } = progress;
  const money = formatAmounts(
    amounts?.map(({ currency, accepted }) => ({ currency, amount: accepted })) ?? [],
  );
  const parts = [
    [accepted, `posted${money === '' ? '' : ` (${money})`}`],
    [toPost, 'to be posted'],
    [rejected, 'refused'],
    [inDoubt, 'in doubt'],
    [held, 'not posted (changed, credited elsewhere, or cancelled)'],
  ] as const;
  return `${formatSum({ whole: plural(planned, 'order'), parts }, { blank: ' ' })}.`;
}

function sumOf(groups: readonly PlanGroup[]): number {
  return groups.reduce((sum, { orders }) => sum + orders, 0);
}
