import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { heldReason, OTHER_WORDS } from '../../core/held/held-order.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { decideHeld, describeDecision, findObstacle, type Obstacle } from '../../decisions/decide-held.ts';
import { foldWord } from '../../intake/values/clean-text.ts';
import { describeHeldOrders, listSelections } from '../../reports/held/describe-held-orders.ts';
import {
  digestHeld,
  type HeldFilter,
  type HeldGroup,
  listHeldGroups,
  listHeldOrders,
} from '../../reports/held/held-orders.ts';
import { confirmByWord } from '../terminal/ask-person.ts';
import type { Output } from '../terminal/output.ts';
import { decidedHere } from '../terminal/read-operator.ts';
import { requireReason, usageError } from '../usage-error.ts';
import type { ReviewOptions } from './review-options.ts';

const SHOWN_ORDERS = 50;

/**
 * Lists held orders, or decides about those that match, after a preview, with a reason and the person's login name.
 *
 * @throws KnownError (exit 2) if the reason is missing, if the decision cannot be made about these orders, or if a
 *   confirmation is needed and there is no terminal.
 */
export async function reviewHeld(
  db: Database,
  { output, options }: { output: Output; options: ReviewOptions },
): Promise<ExitCode> {
  const filter: HeldFilter = {
    job: options.job ?? null,
    source: options.source ?? null,
    reason: options.why ?? null,
    status: wordIn(options.status),
    orderIds: options.order ?? null,
  };
  const shown = await digestHeld(db, filter);
  const groups = await listHeldGroups(db, filter);
  const decision = options.credit ? 'credit' : options.exclude ? 'exclude' : null;
  if (decision === null || groups.length === 0) {
    const orders = await listHeldOrders(db, { ...filter, limit: SHOWN_ORDERS });
    for (const group of groups) output.emit({ event: 'held_orders', ...group });
    for (const { contentHash: _, ...order } of orders) output.emit({ event: 'held_order', ...order });
    const isFiltered = Object.values(filter).some((one) => one !== null);
    if (groups.length === 0) output.print(isFiltered ? 'No held order matches.' : 'No order is held.');
    output.show(describeHeldOrders({ groups, orders, filter }));
    return groups.length === 0 ? EXIT.ok : EXIT.rowsRejected;
  }
  const reason = requireReason(options.reason);
  output.show(describeHeldOrders({ groups }));
  const obstacle = decision === 'credit' ? findObstacle(groups, filter) : null;
  if (obstacle !== null) throw notCredited(obstacle, groups);
  if (
    !options.yes &&
    !options.dryRun &&
    !(await confirmByWord(decision, `${describeDecision({ decision, groups })} `))
  ) {
    output.print('Nothing was changed.');
    return EXIT.ok;
  }
  const decided = await inTransaction(db, (trx) =>
    decideHeld(trx, { filter, shown, decision, reason, ...decidedHere(trx) }),
  );
  if (decided.kind !== 'decided')
    throw usageError(
      'The held orders have changed since they were shown, or somebody has decided about them.',
      'Look at them again: npx influencer-sync review --held',
    );
  output.emit({ event: 'decided_held', decision, orders: decided.orders });
  output.print(describeDecision({ decision, groups }));
  return EXIT.ok;
}

function wordIn(status: string | undefined): string | null {
  if (status === undefined) return null;
  return status === OTHER_WORDS ? status : foldWord(status);
}

function notCredited(obstacle: Obstacle, groups: readonly HeldGroup[]): Error {
  if (obstacle.kind === 'several_words')
    return usageError(
      'These orders are held for several reasons or unknown words. What you confirm of one holds for no other.',
      `Choose one of them: ${listSelections(groups)}. Or name orders with --order.`,
    );
  const { what, fix } = heldReason(obstacle.reason);
  return usageError(
    `These orders cannot be credited by a decision. ${what}.`,
    `${fix} Or exclude them with --exclude.`,
  );
}
