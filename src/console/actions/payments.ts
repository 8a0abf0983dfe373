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
import { dayField, idField, monthField, text } from '../form-fields.ts';

export const paymentActions: readonly ConsoleAction[] = [
  /** Proposes what the page showed. */
  defineAction({
    path: '/money/payments/propose',
    form: z.object({
      month: monthField,
      shown: text.min(1, 'The form does not say which amounts it showed.'),
    }),
    async perform({ trx, config: { statements }, by }, { month, shown }) {
      const { proposalId } = await proposePayments(trx, { month, shown, statements, ...by });
      if (proposalId === null) throw new Refused('There is nothing to pay.');
    },
  }),
  /** Records payments as exported. The page then has the file. */
  defineAction({
    path: '/money/payments/export',
    form: z.object({
      proposal: idField('proposal'),
      format: z.enum(FILE_KINDS, { error: 'Choose a kind of file.' }),
    }),
    async perform({ trx, config: { statements }, by }, { proposal, format: as }) {
      const { exportForBank } = await import('../../reports/payments/export-payments.ts');
      await exportForBank({ as, statements, on: null, now: new Date() }, (canPay) =>
        exportPayments(trx, { proposalId: proposal, as, statements, canPay, ...by }),
      );
    },
  }),
  /** Cancels a payment. The form of an exported one requires a tick that no bank has it. */
  defineAction({
    path: '/money/payments/cancel',
    form: z.object({ payment: idField('payment'), understood: z.string().optional() }),
    perform: ({ trx, by }, { payment: paymentId, understood }) =>
      cancelPayment(trx, { paymentId, isNotAtBank: understood === 'yes', ...by }),
  }),
  /** Records that the rest of a partly paid payment was paid in another way. */
  defineAction({
    path: '/money/payments/complete',
    form: z.object({ payment: idField('payment'), on: dayField }),
    perform: ({ trx, by }, { payment: paymentId, on: paidOn }) =>
      completePayment(trx, { paymentId, paidOn, ...by }),
  }),
  /** Confirms or dismisses a booking that is held. */
  defineAction({
    path: '/money/payments/settle-booking',
    form: z.object({
      booking: idField('booking'),
      is: z.enum(['payment', 'other'], { error: 'Choose what the booking is.' }),
    }),
    perform: ({ trx, by }, { booking: bankEntryId, is }) =>
      settleBooking(trx, { bankEntryId, isPayment: is === 'payment', ...by }),
  }),
];
