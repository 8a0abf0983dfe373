import { z } from 'zod';
import { foldCode } from '../../core/text/fold.ts';
import { isDay } from '../../core/time/day.ts';
import { voidCode } from '../../decisions/void-code.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';

/** Lets a code earn nothing from a day on, if that changes what the page showed. */
export const voidCodeAction = defineAction({
  path: '/codes/void',
  form: z.object({
    code: text.min(1, 'The form does not name a code.'),
    day: z.string({ error: 'The form does not name a day.' }).refine(isDay, 'The form does not name a day.'),
    shown: text.min(1, 'The form does not say what it showed.'),
    reason,
  }),
  async perform({ trx, config, audit }, { code, day, shown, reason: why }) {
    const voided = await voidCode(trx, {
      ...{ settings: config.statements, code: foldCode(code), day, reason: why },
      ...{ seen: shown, now: new Date(), audit },
    });
    if (voided === null)
      throw new Refused(
        'The terms, or what the orders earn, have changed since the page showed them. Look again.',
      );
    return voided.auditId;
  },
});
