import { z } from 'zod';
import { heldReason } from '../../core/held/held-order.ts';
import { decideHeld } from '../../decisions/decide-held.ts';
import { countHeld, listHeldGroups } from '../../reports/held/held-orders.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';
import { readStatus } from '../pages/held.ts';

/** Decides about the held orders of one reason, as a page showed them. */
export const decideHeldAction = defineAction({
  path: '/held/decide',
  form: z.object({
    job: text.optional(),
    source: text.min(1, 'The form does not say which source it showed.'),
    why: text.min(1, 'The form does not say why the orders are held.'),
    status: text.optional(),
    order: text.optional(),
    orders: z.coerce.number({ error: 'The form does not say how many orders it showed.' }).int(),
    decision: z.enum(['credit', 'exclude'], { error: 'Choose what to do with the orders.' }),
    reason,
  }),
  async perform(
    { trx, actor, audit },
    { job, source, why, status, order, orders, decision, reason: because },
  ) {
    const filter = {
      job: job ?? null,
      source,
      reason: why,
      status: readStatus(status ?? null),
      orderIds: order === undefined ? null : [order],
    };
    if (countHeld(await listHeldGroups(trx, filter)) !== orders)
      throw new Refused('The held orders have changed since the page was shown. Look at them again.');
    const decided = await decideHeld(trx, {
      filter,
      decision,
      reason: because,
      decidedBy: actor.name,
      audit,
    });
    if (decided.kind === 'decided') return decided.auditId;
    if (decided.kind === 'cannot_be_credited')
      throw new Refused(`${heldReason(decided.reason).what}. ${heldReason(decided.reason).fix}`);
    throw new Refused('The held orders have changed since the page was shown. Look at them again.');
  },
});
