import { z } from 'zod';
import { isMonth } from '../../core/time/month.ts';
import { closeMonth, whyNotClosed } from '../../decisions/close-month.ts';
import { loadExchange, loadStatementRules } from '../../money/load-rules.ts';
import { sumStatement } from '../../money/sum-statement.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, understood } from '../form-fields.ts';
import { describeSums } from '../pages/statements/describe-sums.ts';

/** Closes the statement of a month, if its sums are those that the page showed. */
export const closeStatementAction = defineAction({
  path: '/statements/close',
  form: z.object({
    month: z
      .string({ error: 'The form does not name a month.' })
      .refine(isMonth, 'The form does not name a month.'),
    shown: z.string({ error: 'The form does not say which amounts it showed.' }),
    understood,
    reason,
  }),
  async perform({ trx, config, actor, audit }, { month, shown, reason: why }) {
    const rules = loadStatementRules(config.statements);
    const exchange = loadExchange(config.statements);
    const closing = await closeMonth(trx, {
      ...{ month, rules, exchange, reason: why },
      ...{ decidedBy: actor.name, audit },
    });
    if (closing.kind !== 'closed') throw new Refused(whyNotClosed(month, closing).message);
    const { currencies } = await sumStatement(trx, { month, rules, limit: 1 });
    if (describeSums(currencies) !== shown)
      throw new Refused(
        `The statement of ${month} is now ${describeSums(currencies)}. The page showed ${shown}. Check the statement again.`,
      );
    return closing.auditId;
  },
});
