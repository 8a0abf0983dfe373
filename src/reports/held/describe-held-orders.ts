import { heldReason, OTHER_WORDS, sayWord } from '../../core/held/held-order.ts';
import { type DecimalText, formatAmounts, formatKnown, formatSums } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { fileName } from '../../core/text/file-name.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { shellWord } from '../../core/text/printable.ts';
import {
  column,
  item,
  more,
  number,
  type Part,
  type Section,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import type { HeldFilter, HeldGroup, HeldOrder } from './held-orders.ts';

const SHOWN_GROUPS = 12;

type Shown = {
  readonly groups: readonly HeldGroup[];
  /** The orders themselves, if they are listed. */
  readonly orders?: readonly HeldOrder[];
  /** The orders and the job that a person asked for: what is suggested is about these alone. */
  readonly filter?: Pick<HeldFilter, 'job' | 'orderIds'>;
  /** False for those of a plan, which stores nothing: only a run makes it possible to decide about them. */
  readonly isStored?: boolean;
};

/**
 * Describes held orders: why each group is held, how much money it is, and what to do. Orders that were posted before
 * are apart: they stay posted. So are those that are decided, which wait only for the next run.
 */
export function describeHeldOrders({
  groups,
  orders = [],
  filter = {},
  isStored = true,
}: Shown): readonly Section[] {
  const held = joinCurrencies(groups.filter((group) => group.orders > 0));
  const [waiting, decided] = [held.filter(isUndecided), held.filter((group) => !isUndecided(group))];
  const sent = joinCurrencies(groups.filter((group) => group.sent > 0));
  const rest = waiting.length - SHOWN_GROUPS;
  return [
    ...section('Held orders', {
      count: sumOrders(waiting),
      note: formatSums(waiting.flatMap(({ of }) => of)),
      why: 'They name an influencer, but something that decides about their credit is not known. They are not posted until better data or your decision settles it.',
      parts: [
        ...waiting.slice(0, SHOWN_GROUPS).map((group) => explain(group, group.orders, formatSums(group.of))),
        ...more(rest > 0, `and ${plural(rest, 'more group', 'more groups')}`),
        ...(waiting.length === 0 ? [] : [tableOf(orders.filter(isUndecided))]),
      ],
      commands: {
        about:
          orders.length > 0
            ? 'to decide about one or many'
            : `${isStored ? '' : 'after the run, '}to see the orders, and to decide about them`,
        lines: orders.length === 0 ? ['npx influencer-sync review --held'] : commandsOf(waiting, filter),
      },
    }),
    ...section('Held orders that are decided', {
      count: sumOrders(decided),
      note: formatSums(decided.flatMap(({ of }) => of)),
      why: 'They wait for the next run, which follows the decision.',
      parts: [
        ...decided
          .slice(0, SHOWN_GROUPS)
          .map((group) =>
            item(nameOf(group, group.orders, formatSums(group.of)), sayDecided(group.decision)),
          ),
        ...(decided.length === 0 ? [] : [tableOf(orders.filter((order) => !isUndecided(order)))]),
      ],
    }),
    ...section('Posted, and held by the rules of today', {
      count: countSent(sent),
      why: 'These orders were posted, and what is known of them today does not suffice to credit them. They stay posted and nothing is sent. Check whether they were credited rightly.',
      parts: sent.slice(0, SHOWN_GROUPS).map((group) => explain(group, group.sent, formatPosted(group.of))),
      commands: isStored
        ? {
            about: 'to see the orders, and to decide about them',
            lines:
              orders.length === 0
                ? ['npx influencer-sync review --held']
                : commandsOf(sent.filter(isUndecided), filter),
          }
        : null,
    }),
  ];
}

/** A group with what is not known, and what fixes it. */
function explain(group: HeldGroup, orders: number, amount: string): Part {
  const { what, fix } = heldReason(group.reason, group.status);
  return item(nameOf(group, orders, amount), `${what}. ${fix}`);
}

/** Held orders of one reason in every currency: what is said of one is said of them all. */
export function joinCurrencies(groups: readonly HeldGroup[]) {
  const sameReason = Map.groupBy(groups, ({ job, source, reason, status, decision }) =>
    JSON.stringify([job, source, reason, status, decision]),
  );
  return [...sameReason.values()].flatMap((of) =>
    of.slice(0, 1).map((one) => ({ ...one, orders: sumOrders(of), sent: countSent(of), of })),
  );
}

function isUndecided({ decision }: Pick<HeldGroup, 'decision'>): boolean {
  return decision !== 'credit' && decision !== 'exclude';
}

function countSent(groups: readonly HeldGroup[]): number {
  return groups.reduce((total, { sent }) => total + sent, 0);
}

function nameOf(group: HeldGroup, orders: number, amount: string): string {
  return `${plural(orders, 'order')} of ${group.source}, ${amount}: ${describeReason(group)}`;
}

/**
 * Formats what those of them come to that were posted before, and what is at stake: `1,249.00 EUR, 249.00 EUR of it
 * refunded by now`, or `1,249.90 EUR when posted, now 1,000.00 EUR`.
 */
export function formatPosted(groups: readonly HeldGroup[]): string {
  const now = formatSums(
    groups.map((group) => ({ ...group, amount: group.sentAmount, withoutAmount: group.sentWithoutAmount })),
  );
  const of = groups.filter(({ sent }) => sent > 0);
  const posted = formatAmounts(moneyOf(of, ({ postedAmount }) => postedAmount));
  const refunded = formatAmounts(moneyOf(of, ({ sentRefunded }) => sentRefunded));
  const isChanged = of.every(({ postedAmount }) => postedAmount !== null) && posted !== '' && posted !== now;
  return `${isChanged ? `${posted} when posted, now ` : ''}${now}${refunded === '' ? '' : `, ${refunded} of it refunded by now`}`;
}

function moneyOf(groups: readonly HeldGroup[], read: (group: HeldGroup) => DecimalText | null) {
  return groups.flatMap((group) => {
    const amount = read(group);
    return amount === null ? [] : [{ amount, currency: group.currency }];
  });
}

/** Says how many orders are held, with their money: `3 held orders (30.00 EUR) and 1 order posted before (5.00 EUR)`. */
export function sayHeld(groups: readonly HeldGroup[]): string {
  const orders = sumOrders(groups);
  const sent = countSent(groups);
  return [
    ...(orders === 0 ? [] : [`${plural(orders, 'held order')} (${formatSums(groups)})`]),
    ...(sent === 0 ? [] : [`${plural(sent, 'order')} posted before (${formatPosted(groups)})`]),
  ].join(' and ');
}

/** Says what a decision about held orders does. Null: there is none. */
export function sayDecided(decision: HeldGroup['decision']): string | null {
  if (decision === null) return null;
  return decision === 'credit'
    ? 'Decided: the next run decides about it again.'
    : 'Decided: never credited. The next run leaves it out.';
}

/** Says in a few words why a group is held: `status "shipped" is not known`. */
export function describeReason({ reason, status }: Pick<HeldGroup, 'reason' | 'status'>): string {
  if (status === null) return reason.replaceAll('_', ' ');
  if (status === OTHER_WORDS) return `many other words that are not known (${reason.replaceAll('_', ' ')})`;
  if (reason !== 'unknown_status')
    return `${sayWord(status)}, which is not known (${reason.replaceAll('_', ' ')})`;
  return status === '' ? 'they have no status' : `status "${status}" is not known`;
}

function tableOf(orders: readonly HeldOrder[]): Part {
  return table(orders, [
    whole('order', ({ orderId }) => orderId),
    column('source', ({ source }) => source),
    column('held because', ({ reason, status }) =>
      status === null ? reason : describeReason({ reason, status }),
    ),
    column('carries', ({ carries }) => carries),
    whole('placed (UTC)', ({ placedAt }) => formatMinute(placedAt) || 'unknown'),
    number('amount', ({ amount, currency }) => formatKnown(amount, currency)),
    column('stated in', ({ uri, line }) => `${fileName(uri)} line ${formatCount(line)}`),
  ]);
}

/** Commands that decide about each group: what crediting confirms, or that it is excluded. */
function commandsOf(
  groups: readonly HeldGroup[],
  { job = null, orderIds = null }: Pick<HeldFilter, 'job' | 'orderIds'>,
): readonly string[] {
  const asked = `${job === null ? '' : ` --job ${shellWord(job)}`}${orderIds === null ? '' : ` --order ${orderIds.map(shellWord).join(' ')}`}`;
  return groups.slice(0, SHOWN_GROUPS).flatMap((group) => {
    const { confirms } = heldReason(group.reason);
    const select = `npx influencer-sync review --held ${selectionOf(group)}${asked}`;
    return [
      ...(confirms === null ? [] : [`${select} --credit --reason '…'   # you confirm: ${confirms}`]),
      `${select} --exclude --reason '…'   # they are never credited`,
    ];
  });
}

/** The options that select a group: `--source shop --why unknown_status --status shipped`. */
function selectionOf({ source, reason, status }: HeldGroup): string {
  return `--source ${shellWord(source)} --why ${reason}${status === null ? '' : ` --status ${shellWord(status)}`}`;
}

/** The options that select each of several groups, which are credited one by one. */
export function listSelections(groups: readonly HeldGroup[]): string {
  const all = [...new Set(groups.map(selectionOf))];
  const rest = all.length - SHOWN_GROUPS;
  return `${all.slice(0, SHOWN_GROUPS).join('; ')}${rest > 0 ? `; and ${formatCount(rest)} more` : ''}`;
}
