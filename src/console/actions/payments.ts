import { z } from 'zod';
import { FILE_KINDS } from '../../core/money/payments.ts';
import {
  cancelPayment,
  completePayment,
  exportPayments,
  proposePayments,
  settleBooking,
} from '../../decisions/pay.ts';
import { type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { dayField, idField, monthField, reason, text } from '../form-fields.ts';

export const paymentActions: readonly ConsoleAction[] = [
  /** Proposes what the page showed. */
  defineAction({
    path: '/money/payments/propose',
    form: z.object({
      month: monthField,
      shown: text.min(1, 'The form does not say which amounts it showed.'),
      reason,
    }),
    async perform({ trx, config: { statements }, decidedBy, audit }, { month, shown, reason: why }) {
      const { auditId } = await proposePayments(trx, {
        month,
        shown,
        statements,
        reason: why,
        decidedBy,
        audit,
      });
      if (auditId === null) throw new Refused('There is nothing to pay.');
      return auditId;
    },
  }),
  /** Records payments as exported. The page then has the file. */
  defineAction({
    path: '/money/payments/export',
    form: z.object({
      proposal: idField('proposal'),
      format: z.enum(FILE_KINDS, { error: 'Choose a kind of file.' }),
      reason,
    }),
    async perform({ trx, config: { statements }, decidedBy, audit }, { proposal, format: as }) {
      const { exportForBank } = await import('../../reports/payments/export-payments.ts');
      const { auditId } = await exportForBank({ as, statements, on: null, now: new Date() }, (canPay) =>
        exportPayments(trx, { proposalId: proposal, as, statements, canPay, decidedBy, audit }),
      );
      return auditId;
    },
  }),
  /** Cancels a payment. The form of an exported one requires a tick that no bank has it. */
  defineAction({
    path: '/money/payments/cancel',
    form: z.object({ payment: idField('payment'), understood: z.string().optional(), reason }),
    async perform({ trx, decidedBy, audit }, { payment, understood, reason: why }) {
      const { auditId } = await cancelPayment(trx, {
        paymentId: payment,
        isNotAtBank: understood === 'yes',
        reason: why,
        decidedBy,
        audit,
      });
      return auditId;
    },
  }),
  /** Records that the rest of a partly paid payment was paid in another way. */
  defineAction({
    path: '/money/payments/complete',
    form: z.object({ payment: idField('payment'), on: dayField, reason }),
    async perform({ trx, decidedBy, audit }, { payment, on, reason: why }) {
      const { auditId } = await completePayment(trx, {
        paymentId: payment,
        paidOn: on,
        reason: why,
        decidedBy,
        audit,
      });
      return auditId;
    },
  }),
  /** Confirms or dismisses a booking that is held. */
  defineAction({
    path: '/money/payments/settle-booking',
    form: z.object({
      booking: idField('booking'),
      is: z.enum(['payment', 'other'], { error: 'Choose what the booking is.' }),
      reason,
    }),
    async perform({ trx, decidedBy, audit }, { booking, is, reason: why }) {
      const { auditId } = await settleBooking(trx, {
        bankEntryId: booking,
        isPayment: is === 'payment',
        reason: why,
        decidedBy,
        audit,
      });
      return auditId;
    },
  }),
];
