import { type RuledSubject, type Ruling, storeRulings } from '../../jobs/attribute-orders/decide/rulings.ts';
import { heldReason } from '../core/held/held-order.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';
import { sayHeld } from '../reports/held/describe-held-orders.ts';
import {
  countHeld,
  countWords,
  digestHeld,
  type HeldFilter,
  type HeldGroup,
  type HeldOrder,
  listHeldGroups,
  listHeldOrders,
} from '../reports/held/held-orders.ts';

export type HeldDecision = DecidedWhy & {
  /** The orders, as the person selected them. */
  readonly filter: HeldFilter;
  /** Digest of the orders that the person saw. If orders were added, have left or have changed since, nothing is decided. */
  readonly shown?: string;
  readonly decision: Ruling;
};

export type DecidedHeld =
  | { readonly kind: 'decided'; readonly orders: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'changed'; readonly groups: readonly HeldGroup[] }
  | Obstacle;

/** Why no decision credits these orders, whatever a person says. */
export type Obstacle =
  /** No decision can supply what they lack. */
  | { readonly kind: 'cannot_be_credited'; readonly reason: string }
  /** What a person confirms of one reason or unknown word holds for no other. */
  | { readonly kind: 'several_words'; readonly words: number };

/** Reasons for which a decision concerns the order as such, however its state changes. */
const OF_THE_ORDER = ['similar_id', 'similar_order', 'cancelled_elsewhere'];
/** Most orders that the subject of an audit record names. */
const MOST_NAMED = 5;

/**
 * Decides about held orders as a person does: what was not known is settled, or they are never credited. A decision
 * about an unknown status holds for all orders of the source that have it, unless single orders are named. Commands and
 * the console both call this function. The next run follows the decision.
 */
export async function decideHeld(
  trx: DatabaseTransaction,
  { filter, shown, decision, reason, decidedBy, audit }: HeldDecision,
): Promise<DecidedHeld> {
  const groups = await listHeldGroups(trx, filter);
  if (groups.length === 0) return { kind: 'none' };
  const held = await listHeldOrders(trx, { ...filter, limit: null });
  // Last: what a run commits while they are listed makes the digest another one.
  if (shown !== undefined && shown !== (await digestHeld(trx, filter))) return { kind: 'changed', groups };
  const obstacle = decision === 'credit' ? findObstacle(groups, filter) : null;
  if (obstacle !== null) return obstacle;
  await storeRulings(trx, { subjects: subjectsOf(held, { filter, decision }), decision, decidedBy });
  const orders = countHeld(groups);
  const ids = [...new Set(held.map(({ orderId }) => orderId))];
  await audit({
    action: 'decide_held_orders',
    subjectKind: 'order',
    subject: ids.length > MOST_NAMED ? null : ids.join(' '),
    summary: describeDecision({ decision, groups }),
    reason,
    filter,
    after: { decision, orders, groups },
  });
  return { kind: 'decided', orders };
}

/** Finds why the orders of a filter cannot be credited together. Null: they can. */
export function findObstacle(
  groups: readonly HeldGroup[],
  { orderIds }: Pick<HeldFilter, 'orderIds'>,
): Obstacle | null {
  const lacking = groups.find(({ reason }) => heldReason(reason).confirms === null);
  if (lacking !== undefined) return { kind: 'cannot_be_credited', reason: lacking.reason };
  const words = countWords(groups);
  return words > 1 && orderIds == null ? { kind: 'several_words', words } : null;
}

/** Says in a sentence what a decision about held orders does. */
export function describeDecision({
  decision,
  groups,
}: {
  decision: Ruling;
  groups: readonly HeldGroup[];
}): string {
  const isOne = countHeld(groups) === 1;
  const what = sayHeld(groups);
  const posted = groups.some(({ sent }) => sent > 0) ? ' What was posted stays posted.' : '';
  return decision === 'credit'
    ? `${what} may be credited. The next run decides about ${isOne ? 'it' : 'them'} again.${posted}`
    : `${what} ${isOne ? 'is' : 'are'} never credited.${posted === '' ? ` The next run leaves ${isOne ? 'it' : 'them'} out.` : posted}`;
}

function subjectsOf(
  held: readonly HeldOrder[],
  { filter, decision }: Pick<HeldDecision, 'filter' | 'decision'>,
): readonly RuledSubject[] {
  const isNamed = filter.orderIds != null;
  const statuses = held.flatMap(({ source, reason, status }) =>
    isNamed || status === null || reason !== 'unknown_status' ? [] : [{ source, status }],
  );
  return [
    ...statuses,
    ...held
      .filter(({ reason }) => isNamed || reason !== 'unknown_status')
      .map(({ source, orderId, reason, contentHash }) => ({
        source,
        orderId,
        reason,
        contentHash: decision === 'exclude' || OF_THE_ORDER.includes(reason) ? null : contentHash,
      })),
  ];
}
