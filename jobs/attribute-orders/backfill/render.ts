import type {
  Backfill,
  BackfillRunCounts,
  PlanChanges,
  PlanGroup,
  PlanStanding,
} from '../../../src/core/backfill.ts';
import { formatAmounts } from '../../../src/core/money.ts';
import { sumOrders } from '../../../src/core/order.ts';
import { fileName } from '../../../src/core/text/file-name.ts';
import { formatMinute } from '../../../src/core/text/format-instant.ts';
import {
  type Block,
  type CountsBlock,
  column,
  item,
  number,
  type Section,
  say,
  section,
  type Table,
  table,
  whole,
} from '../../../src/render/block.ts';
import { formatReasons, formatSum } from '../../../src/render/render-blocks.ts';
import { clause, formatCount, formatDuration, plural } from '../../../src/render/text.ts';
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
 * Describes what a backfill would do: the disposition of every order of the period, what is posted month by
 * month, and how long that takes.
 */
export function describePlan(
  { backfillId, job, period, plan, planHash, state }: Backfill,
  { requestsPerSecond, isKept }: { requestsPerSecond: number; isKept: boolean },
): readonly Block[] {
  const count = sumOrders(plan.groups.filter(({ standing }) => standing === 'to_post'));
  const name = isKept ? `Backfill ${backfillId} of ${job}` : `Backfill of ${job}`;
  const pace =
    requestsPerSecond === 0
      ? ''
      : `, ${formatDuration(count / requestsPerSecond)} at ${requestsPerSecond} a second, if no run is active`;
  const others = [
    plan.ofTheRuns === 0
      ? []
      : `${plural(plan.ofTheRuns, 'order')} in the period ${plan.ofTheRuns === 1 ? 'was' : 'were'} placed on or after start_date. The runs of the job credit ${plan.ofTheRuns === 1 ? 'it' : 'them'}.`,
    plan.undated === 0
      ? []
      : `${plural(plan.undated, 'order')} in the exports ${plan.undated === 1 ? 'has no date, and belongs' : 'have no date, and belong'} to no period.`,
  ].flat();
  const commands = isKept
    ? { about: 'to execute exactly this', lines: [`npx influencer-sync backfill resume ${backfillId}`] }
    : {
        about: 'to plan it again and execute it',
        lines: [`npx influencer-sync backfill ${job} --from ${period.fromDay} --to ${period.toDay}`],
      };
  return [
    say(`${name}, ${period.fromDay} to ${period.toDay} (${period.timeZone}): a plan; nothing was sent`, {
      tone: 'bold',
    }),
    planTally(plan),
    ...others.map((text) => say(text)),
    ...(count === 0
      ? [say('There is nothing to post.')]
      : section('By month', { parts: [planMonths(plan), item(`${plural(count, 'call')}${pace}.`)] })),
    say(`plan ${planHash.slice(0, 12)}`, {
      tone: 'dim',
      commands: count === 0 || state !== 'planned' ? null : commands,
    }),
  ];
}

/** The orders of a plan by their disposition. */
export function planTally({ groups, files }: Backfill['plan']): CountsBlock {
  const total = sumOrders(groups);
  return {
    kind: 'counts',
    count: total,
    whole: plural(total, 'order'),
    meaning: `in the period, in ${plural(files.length, 'file')}`,
    lines: LINES.map(({ standing, label, note }) => {
      const some = groups.filter((group) => group.standing === standing);
      return [label, sumOrders(some), { note: note(some), always: standing === 'to_post' }];
    }),
  };
}

/** What a plan does with the orders of each month, and the revenue of those to post. */
export function planMonths({ groups }: Backfill['plan']): Table {
  const months = [...Map.groupBy(groups, ({ month }) => month)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const those = (some: readonly PlanGroup[], standing: PlanStanding) =>
    some.filter((group) => group.standing === standing);
  return table(months, [
    whole('month', ([month]) => month),
    number('to post', ([, some]) => formatCount(sumOrders(those(some, 'to_post')))),
    number('known', ([, some]) => formatCount(sumOrders(those(some, 'already')))),
    number('others', ([, some]) =>
      formatCount(sumOrders(some) - sumOrders(those(some, 'to_post')) - sumOrders(those(some, 'already'))),
    ),
    number('revenue to post', ([, some]) => formatAmounts(those(some, 'to_post'))),
  ]);
}

/** Describes the differences from a plan as parts of a sentence. */
export function listChanges({ more, fewer, other, files }: PlanChanges): readonly string[] {
  const changed = [
    [more, 'more to post'],
    [fewer, 'no longer to post'],
    [other, 'with another amount or influencer'],
  ] as const;
  return [
    ...changed.flatMap(([{ orders, examples }, how]) =>
      clause(orders, 'order', 'orders').map(
        (count) => `${count} ${how} (${examples.join(', ')}${orders > examples.length ? ', …' : ''})`,
      ),
    ),
    ...(files.length === 0
      ? []
      : [`other files: ${files.slice(0, 3).map(fileName).join(', ')}${files.length > 3 ? ', …' : ''}`]),
  ];
}

export function describeChanges(changes: PlanChanges): readonly Section[] {
  const parts = listChanges(changes).map((line) => item(`- ${line}`));
  return section('Changes since the previous plan', { tone: 'yellow', parts });
}

/** Describes how a backfill ended and what to do next. */
export function describeBackfillEnd({
  backfill: { backfillId, job },
  end,
  problem,
  progress,
}: {
  backfill: Backfill;
  end: 'done' | 'cancelled' | 'stopped';
  problem: string | null;
  progress: BackfillProgress;
}): readonly Block[] {
  const words = { done: 'done', cancelled: 'cancelled', stopped: 'stopped; you can resume it' }[end];
  return section(`Backfill ${backfillId} of ${job}`, {
    note: words,
    tone: end === 'done' ? 'green' : 'yellow',
    parts: [
      ...(problem === null ? [] : [{ kind: 'item', text: problem, tone: 'yellow' } as const]),
      item(progressOf(progress)),
    ],
    commands: {
      lines: [
        ...(end === 'stopped' ? [`npx influencer-sync backfill resume ${backfillId}`] : []),
        ...(progress.inDoubt > 0 ? ['npx influencer-sync review'] : []),
      ],
    },
  });
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

/** Describes backfills as a table, with details about those that are running or paused. */
export function describeBackfills(
  shown: readonly { readonly backfill: Backfill; readonly progress: BackfillProgress }[],
): readonly Block[] {
  if (shown.length === 0) return [say('There are no backfills yet.')];
  return [
    table(shown, [
      number('id', ({ backfill }) => backfill.backfillId),
      column('job', ({ backfill }) => backfill.job),
      whole('state', ({ backfill, progress }) => stateOf(backfill, progress)),
      whole('days', ({ backfill: { period } }) => `${period.fromDay} – ${period.toDay}`),
      whole('planned (UTC)', ({ backfill }) => formatMinute(backfill.plannedAt)),
      number('orders', ({ progress }) => formatCount(progress.planned)),
      // Another plan may have posted the same orders, so a plan that was not executed shows no count.
      number('posted', ({ backfill: { state }, progress }) =>
        state === 'planned' || state === 'replaced' ? null : formatCount(progress.accepted),
      ),
    ]),
    ...shown
      .filter(({ backfill: { state } }) => state === 'running' || state === 'paused')
      .map((one) => say(aboutActive(one))),
  ];
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
  const lines = [
    [`posted${money === '' ? '' : ` (${money})`}`, accepted],
    ['to be posted', toPost],
    ['refused', rejected],
    ['in doubt', inDoubt],
    ['not posted (changed, credited elsewhere, or cancelled)', held],
  ] as const;
  return `${formatSum({ whole: plural(planned, 'order'), lines }, { blank: ' ' })}.`;
}
