import { z } from 'zod';
import { heldReason } from '../../core/held/held-order.ts';
import { ENTRY_STATES } from '../../core/ledger.ts';
import { decideHeld } from '../../decisions/decide-held.ts';
import { DECISIONS, type Settled, settleDoubt } from '../../decisions/settle-doubt.ts';
import { settleOtherCurrency } from '../../decisions/settle-restated.ts';
import { keepEarnings } from '../../money/kept-earnings.ts';
import { loadStatementRules } from '../../money/load-rules.ts';
import { sayHeld } from '../../reports/held/describe-held-orders.ts';
import { refreshReporting } from '../../rollups/refresh-reporting.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, text } from '../form-fields.ts';
import { readStatus } from '../pages/held.ts';

const UNSHOWN = { error: 'The form does not say which state it showed.' };

const settleForm = z
  .object({
    entry: idField('entry'),
    decision: z.enum(DECISIONS, { error: 'Choose what to do with the entry.' }),
    deal: text.default(''),
    collab: text.default(''),
    /** Ticked to confirm the consequences of sending again. */
    understood: z.literal('yes').optional(),
    /** The entry's state as the page showed it. */
    state: z.enum(ENTRY_STATES, UNSHOWN),
    attempt: z.coerce.number(UNSHOWN).int(UNSHOWN),
    credits: z.coerce.number(UNSHOWN).int(UNSHOWN).optional(),
  })
  .refine(({ decision, understood }) => decision !== 'resend' || understood === 'yes', {
    error:
      'Nothing was changed. To send the entry again, tick the box to confirm that the service may carry it out twice.',
  });

/** Explains why a decision was not carried out, and what to do. */
function explainRefusal(entryId: string, settled: Exclude<Settled, { readonly kind: 'settled' }>): string {
  switch (settled.kind) {
    case 'unknown_entry':
      return `There is no entry ${entryId}.`;
    case 'not_credited_twice':
      return `The double credit of entry ${entryId} has changed since the page was shown: somebody has acknowledged it, or the service has accepted the order once more.`;
    case 'deal_unknown':
      return `Entry ${entryId} was sent for ${settled.handle === null ? 'an influencer' : `the handle ${settled.handle}`}, and it is unknown which deal was credited. Enter the deal or the collaboration that the service shows.`;
    case 'does_not_apply':
      return `Entry ${entryId} is ${settled.state.replaceAll('_', ' ')} now. It has changed since the page was shown: somebody has settled it, or it was sent again.`;
  }
}

export const orderActions: readonly ConsoleAction[] = [
  /** Settles one entry in doubt, or acknowledges one double credit. */
  defineAction({
    path: '/doubts/settle',
    form: settleForm,
    async perform({ trx, by, afterwards }, form) {
      const { entry: entryId, decision, deal, collab, state, attempt, credits } = form;
      const settled = await settleDoubt(trx, {
        entryId,
        decision,
        dealId: deal || null,
        collabId: collab || null,
        shown: { state, attempt },
        shownCredits: credits,
        ...by,
      });
      if (settled.kind !== 'settled') throw new Refused(explainRefusal(entryId, settled));
      if (decision !== 'acknowledge') afterwards((db) => refreshReporting(db, { job: settled.job }));
    },
  }),
  /** Decides about the held orders of one reason, as a page showed them. */
  defineAction({
    path: '/held/decide',
    form: z.object({
      job: text.optional(),
      source: text.min(1, 'The form does not say which source it showed.'),
      why: text.min(1, 'The form does not say why the orders are held.'),
      status: text.optional(),
      order: text.optional(),
      shown: z.string({ error: 'The form does not say which orders it showed.' }),
      /** What it said of them. */
      said: text.default(''),
      decision: z.enum(['credit', 'exclude'], { error: 'Choose what to do with the orders.' }),
      understood: z.string().optional(),
    }),
    async perform({ trx, by }, { job, source, why, status, order, shown, said, decision, understood }) {
      if (decision === 'exclude' && understood !== 'yes')
        throw new Refused('Nothing was decided. Tick the box: an order that is excluded is never credited.');
      const filter = {
        job: job ?? null,
        source,
        reason: why,
        status: readStatus(status ?? null),
        orderIds: order === undefined ? null : [order],
        isDecided: false,
      };
      const decided = await decideHeld(trx, { filter, shown, decision, ...by });
      if (decided.kind === 'decided') return;
      if (decided.kind === 'several_words')
        throw new Refused(
          'Nothing was decided. The orders have different words that are not known: choose one of them.',
        );
      if (decided.kind === 'cannot_be_credited')
        throw new Refused(`${heldReason(decided.reason).what}. ${heldReason(decided.reason).fix}`);
      const now = decided.kind === 'none' ? 'none waits for a decision' : sayHeld(decided.groups);
      const before = said === '' ? '' : `It showed ${said}. `;
      throw new Refused(
        `The held orders have changed since the page was shown, so nothing was decided. ${before}${now === said ? 'As many are held now, but they are other orders, their state is another, or somebody has decided about them' : `Now: ${now}`}. Look at them again.`,
      );
    },
  }),
  /** Decides what posted orders come to that an export states in another currency since, as a page showed them. */
  defineAction({
    path: '/restated/settle',
    form: z.object({
      source: text.min(1, 'The form does not say which source it showed.'),
      order: text.optional(),
      shown: text.min(1, 'The form does not say which orders it showed.'),
      as: z.enum(['sent', 'returned'], { error: 'Choose what the orders come to.' }),
      understood: z.string().optional(),
    }),
    async perform({ trx, config, by, afterwards }, { source, order, shown, as: comesTo, understood }) {
      if (comesTo === 'returned' && understood !== 'yes')
        throw new Refused('Nothing was decided. Tick the box: what was paid for these orders is taken back.');
      const rules = loadStatementRules(config.statements);
      const filter = { source, orderIds: order === undefined ? null : [order] };
      const { reason, audit } = by;
      const settled = await settleOtherCurrency(trx, { filter, shown, comesTo, rules, reason, audit });
      if (settled.kind === 'unclear')
        throw new Refused(
          'These orders have changed since the page was shown, or somebody has decided about them, so nothing was decided. Look at them again.',
        );
      afterwards((db) => keepEarnings(db, { rules }));
    },
  }),
];
