import { z } from 'zod';
import { foldCode } from '../../core/text/fold.ts';
import { acknowledgeLeak } from '../../decisions/acknowledge-leak.ts';
import { defineAction, Refused } from '../console-page.ts';
import { reason, text } from '../form-fields.ts';

/** Acknowledges a code that may have leaked. */
export const acknowledgeLeakAction = defineAction({
  path: '/money/leaks/acknowledge',
  form: z.object({ code: text, reason }),
  async perform({ trx, audit }, { code, reason: why }) {
    const auditId = await acknowledgeLeak(trx, { code: foldCode(code), reason: why, now: new Date(), audit });
    if (auditId === null) throw new Refused('This code is not flagged any more.');
    return auditId;
  },
});
