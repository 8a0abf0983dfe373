import { z } from 'zod';
import { isLanguage } from '../../core/text/language.ts';
import { closeMonth, whyNotClosed } from '../../decisions/close-month.ts';
import {
  requestStatementMail,
  sendStatementMails,
  settleStatementMail,
} from '../../decisions/send-statement.ts';
import { keepEarnings } from '../../money/kept-earnings.ts';
import { loadExchange, loadStatementRules } from '../../money/load-rules.ts';
import { sumStatement } from '../../money/sum-statement.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, monthField, text, understood } from '../form-fields.ts';
import { describeSums } from '../pages/money/statements.ts';

export const statementActions: readonly ConsoleAction[] = [
  /** Closes the statement of a month, if its sums are those that the page showed. */
  defineAction({
    path: '/statements/close',
    form: z.object({
      month: monthField,
      shown: z.string({ error: 'The form does not say which amounts it showed.' }),
      understood,
    }),
    async perform({ trx, config, by, afterwards }, { month, shown }) {
      const rules = loadStatementRules(config.statements);
      const exchange = loadExchange(config.statements);
      const closing = await closeMonth(trx, { month, rules, exchange, ...by });
      if (closing.kind !== 'closed') throw new Refused(whyNotClosed(month, closing).message);
      const { currencies } = await sumStatement(trx, { month, rules, limit: 1 });
      if (describeSums(currencies) !== shown)
        throw new Refused(
          `The statement of ${month} is now ${describeSums(currencies)}. The page showed ${shown}. Check the statement again.`,
        );
      afterwards((db) => keepEarnings(db, { rules }));
    },
  }),
  /** Sends the statement of one deal to its creator, or to a former one, by mail. */
  defineAction({
    path: '/statements/send',
    form: z.object({
      month: monthField,
      deal: text.min(1, 'The form does not name a deal.'),
      /** The former creator of the deal, whose corrections it has. */
      creator: text.default(''),
      recipient: text.min(1, 'Type the address of the creator.'),
      language: text.default(''),
      /** The last mail that the page showed. */
      after: text.default(''),
    }),
    async perform({ trx, config, by, afterwards }, { month, deal, creator, recipient, language, after }) {
      const requested = await requestStatementMail(trx, {
        month,
        dealId: deal,
        creator: creator || null,
        recipient,
        after: after || null,
        language: isLanguage(language) ? language : null,
        config,
        ...by,
      });
      if (requested.kind === 'refused') throw new Refused(requested.why);
      afterwards((db) => sendStatementMails(db, { config }));
    },
  }),
  /** Records whether an unclear mail has arrived. */
  defineAction({
    path: '/statements/settle-mail',
    form: z.object({
      mail: idField('mail'),
      outcome: z.enum(['sent', 'failed'], { error: 'Choose whether the mail has arrived.' }),
    }),
    async perform({ trx, by }, { mail: mailId, outcome }) {
      if (!(await settleStatementMail(trx, { mailId, outcome, ...by })))
        throw new Refused('The mail is not unclear any more. Somebody has decided about it.');
    },
  }),
];
