import { z } from 'zod';
import { FILE_KINDS } from '../../core/money/payments.ts';
import { isMonth } from '../../core/time/month.ts';
import { cancelPayment, exportPayments, proposePayments, settleBooking } from '../../decisions/pay.ts';
import { defineAction, Refused } from '../console-page.ts';
import { idField, reason, text } from '../form-fields.ts';

/** Proposes what the page showed. */
export const proposePaymentsAction = defineAction({
  path: '/money/payments/propose',
  form: z.object({
    month: z
      .string({ error: 'The form does not name a month.' })
      .refine(isMonth, 'The form does not name a month.'),
    shown: text.min(1, 'The form does not say which amounts it showed.'),
    reason,
  }),
  async perform({ trx, config: { statements }, actor, audit }, { month, shown, reason: why }) {
    const { auditId } = await proposePayments(trx, {
      ...{ month, shown, statements, reason: why, decidedBy: actor.name, audit },
    });
    if (auditId === null) throw new Refused('There is nothing to pay.');
    return auditId;
  },
});

/** Records payments as exported. The page then has the file. */
export const exportPaymentsAction = defineAction({
  path: '/money/payments/export',
  form: z.object({
    proposal: idField('proposal'),
    format: z.enum(FILE_KINDS, { error: 'Choose a kind of file.' }),
    reason,
  }),
  async perform({ trx, config: { statements }, actor, audit }, { proposal, format: as }) {
    const { exportForBank } = await import('../../reports/payments/export-payments.ts');
    const { auditId } = await exportForBank({ as, statements, on: null, now: new Date() }, (canPay) =>
      exportPayments(trx, { proposalId: proposal, as, statements, canPay, decidedBy: actor.name, audit }),
    );
    return auditId;
  },
});

/** Cancels a payment. The form of an exported one requires a tick that no bank has it. */
export const cancelPaymentAction = defineAction({
  path: '/money/payments/cancel',
  form: z.object({ payment: idField('payment'), understood: z.string().optional(), reason }),
  async perform({ trx, actor, audit }, { payment, understood, reason: why }) {
    const { auditId } = await cancelPayment(trx, {
      ...{ paymentId: payment, isNotAtBank: understood === 'yes' },
      ...{ reason: why, decidedBy: actor.name, audit },
    });
    return auditId;
  },
});

/** Confirms or dismisses a booking that is held. */
export const settleBookingAction = defineAction({
  path: '/money/payments/settle-booking',
  form: z.object({
    booking: idField('booking'),
    is: z.enum(['payment', 'other'], { error: 'Choose what the booking is.' }),
    reason,
  }),
  async perform({ trx, actor, audit }, { booking, is, reason: why }) {
    const { auditId } = await settleBooking(trx, {
      ...{ bankEntryId: booking, isPayment: is === 'payment' },
      ...{ reason: why, decidedBy: actor.name, audit },
    });
    return auditId;
  },
});
