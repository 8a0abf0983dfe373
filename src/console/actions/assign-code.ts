import { z } from 'zod';
import { assignCode, withdrawCode } from '../../codes/assign-code.ts';
import { foldCode } from '../../core/text/fold.ts';
import { acknowledgeLeak } from '../../decisions/acknowledge-leak.ts';
import { voidCode } from '../../decisions/void-code.ts';
import { findUnknownOwner } from '../../reports/codes/list-codes.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { dayField, text } from '../form-fields.ts';

export const codeActions: readonly ConsoleAction[] = [
  /** Assigns an owner to a code that codes.csv does not contain. */
  defineAction({
    path: '/codes/assign',
    form: z.object({
      job: text,
      code: text.min(1, 'Name the code.'),
      deal_id: text.default(''),
      collab_id: text.default(''),
      influencer_handle: text.default(''),
      brand_id: text.default(''),
      valid_from: text.default(''),
      valid_to: text.default(''),
      understood: text.default(''),
    }),
    async perform({ trx, config, decidedBy, reason, audit }, { job, understood, ...cells }) {
      if (config.jobs[job] === undefined) throw new Refused(`There is no job ${job}.`);
      const { deal_id: deal, collab_id: collaboration, brand_id: brand, influencer_handle: handle } = cells;
      if (deal === '' && collaboration === '' && handle === '')
        throw new Refused('The code has no owner yet: fill in a deal, a collaboration or a handle.');
      const result = await assignCode(trx, { job, cells, assignedBy: decidedBy });
      if (result.kind === 'unusable') throw new Refused(result.why);
      if (result.kind === 'listed')
        throw new Refused(`Line ${result.line} of codes.csv gives the code to an owner. Change it there.`);
      // A mistyped owner would be credited by the next run.
      const unknown =
        understood === '' ? await findUnknownOwner(trx, { deal, collaboration, brand, handle }) : [];
      if (unknown.length > 0)
        throw new Refused(
          `Neither the mirror nor a code knows the ${unknown.join(', ')}. Check how it is written. If it is new, tick the box, and assign the code again.`,
        );
      const named = Object.fromEntries(Object.entries(cells).filter(([, value]) => value !== ''));
      await audit({
        action: 'assign_code',
        subjectKind: 'code',
        subject: result.code,
        summary: `The code ${result.code} is assigned to ${deal || collaboration || handle}. The next run of ${job} matches its orders again.`,
        reason,
        after: { job, ...named },
      });
    },
  }),
  defineAction({
    path: '/codes/withdraw',
    form: z.object({ job: text, code: text }),
    async perform({ trx, reason, audit }, { job, code }) {
      if (!(await withdrawCode(trx, { job, code })))
        throw new Refused('The code is no longer assigned. Somebody else has withdrawn the assignment.');
      await audit({
        action: 'withdraw_code',
        subjectKind: 'code',
        subject: code,
        summary: `The code ${code} no longer has an assigned owner. Credited orders stay credited.`,
        reason,
        before: { job },
      });
    },
  }),
  /** Acknowledges a code that may have leaked. */
  defineAction({
    path: '/money/leaks/acknowledge',
    form: z.object({ code: text }),
    async perform({ trx, by }, { code }) {
      if (!(await acknowledgeLeak(trx, { code: foldCode(code), now: new Date(), ...by })))
        throw new Refused('This code is not flagged any more.');
    },
  }),
  /** Lets a code earn nothing from a day on, if that changes what the page showed. */
  defineAction({
    path: '/codes/void',
    form: z.object({
      code: text.min(1, 'The form does not name a code.'),
      day: dayField,
      shown: text.min(1, 'The form does not say what it showed.'),
    }),
    perform: ({ trx, config: { statements: settings }, by }, { code, day, shown }) =>
      voidCode(trx, { settings, code: foldCode(code), day, seen: shown, now: new Date(), ...by }),
  }),
];
