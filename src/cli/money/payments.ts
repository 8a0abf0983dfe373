import { EXIT } from '../../core/exit-code.ts';
import { refusal } from '../../core/known-error.ts';
import { FILE_KINDS, formatDebt, isDebt, PAYMENT_STATES } from '../../core/money/payments.ts';
import { formatMoney } from '../../core/money.ts';
import { fileName } from '../../core/text/file-name.ts';
import { plural } from '../../core/text/plural.ts';
import { type CommandDefinition, defineCommand, parseDay, parseId, parseMonth } from '../command.ts';

const proposeCommand = defineCommand({
  name: 'propose',
  decides: { says: 'why', kept: 'with the proposal' },
  description: 'propose to pay what is unpaid of the closed statements up to a month',
  takes: [['<month>', 'the last closed month, such as 2026-05', parseMonth]],
  /** Proposes payments. @returns 3 if some amounts are not paid because bank data or a deal is missing. */
  async action({ output, open }, { month, reason, dryRun }) {
    const { proposePayments } = await import('../../decisions/pay.ts');
    const { describeUnpaid } = await import('../../reports/payments/payments.ts');
    const { config, decide } = await open();
    const { statements } = config;
    const { proposalId, unpaid } = await decide((trx, here) =>
      proposePayments(trx, { month, statements, reason, ...here }),
    );
    for (const { items, accountMark: _mark, ...one } of unpaid)
      output.emit({ event: 'payment_unpaid', ...one, months: [...new Set(items.map((item) => item.month))] });
    const isDryRun = dryRun === true;
    output.emit({ event: 'payments_proposed', month, proposalId: isDryRun ? null : proposalId });
    output.show(describeUnpaid(unpaid));
    output.print(
      proposalId === null
        ? 'There is nothing to pay.'
        : isDryRun
          ? `A proposal would pay ${plural(unpaid.filter(({ becomes }) => becomes === 'pay').length, 'creator')}.`
          : `Proposal ${proposalId} is made. To write the file for the bank:  npx influencer-sync payments export ${proposalId} --format pain.001 > payments-${proposalId}.xml`,
    );
    const isLacking = unpaid.some(
      ({ becomes }) => becomes === 'no_bank_data' || becomes === 'no_deal' || becomes === 'former_creator',
    );
    return isLacking ? EXIT.rowsRejected : EXIT.ok;
  },
});

const exportCommand = defineCommand({
  name: 'export',
  changes: true,
  description: 'write the payments of a proposal for the bank; the file has bank data of creators',
  requires: [
    ['--format <format>', 'pain.001 (SEPA, only EUR) or csv; a payment is never in both', FILE_KINDS],
  ],
  takes: [
    ['<proposal>', 'number of the proposal', parseId],
    ['--on <day>', 'day on which the bank is asked to pay; pain.001 only (default: today)', parseDay],
  ],
  /**
   * Writes the file for the bank on standard output. The payments are recorded as exported before a byte is written, so a
   * process that is killed leaves a payment that can be exported again, and never one that is proposed twice.
   * @returns 3 if payments of the proposal are in no file yet.
   */
  async action({ output, open }, { proposal: proposalId, format: as, on, dryRun }) {
    const { exportForBank } = await import('../../reports/payments/export-payments.ts');
    const { exportPayments } = await import('../../decisions/pay.ts');
    const { listPayments } = await import('../../money/payments/keep-payments.ts');
    const { config, decide, read } = await open();
    const { statements } = config;
    const { file, orders } = await decide((trx, here) =>
      exportForBank({ as, statements, on: on ?? null, now: new Date() }, (canPay) =>
        exportPayments(trx, { proposalId, as, statements, canPay, ...here }),
      ),
    );
    for (const { paymentId, reference, amount, currency } of orders)
      output.emit({ event: 'payment_exported', proposalId, paymentId, reference, amount, currency, as });
    if (dryRun === true) output.print(`${plural(orders.length, 'payment')} would be exported.`);
    else output.printRows(file);
    const written = new Set(orders.map(({ paymentId }) => paymentId));
    const proposed = await read((db) => listPayments(db, { proposalId, state: 'proposed' }));
    const left = proposed.filter(({ paymentId }) => !written.has(paymentId));
    if (left.length === 0) return EXIT.ok;
    const whom = left.map(({ creator, amount, currency }) => `${creator} ${formatMoney(amount, currency)}`);
    output.warn(
      `Not in this file, which cannot pay them: ${whom.join(', ')}. To write them:  npx influencer-sync payments export ${proposalId} --format csv > payments-${proposalId}.csv`,
    );
    return EXIT.rowsRejected;
  },
});

const readCommand = defineCommand({
  name: 'read',
  changes: true,
  description: 'read what the bank booked (camt.053, or CSV), and match it with payments',
  takes: [['<file>', 'the same file again changes nothing']],
  /**
   * Reads a file of the bank.
   * @returns 3 if a booking is held, of this file or an earlier one, or cannot be read.
   */
  async action({ output, open }, { file: path }) {
    const { readSheetFile } = await import('../../core/text/read-sheet.ts');
    const { readBankFile } = await import('../../decisions/pay.ts');
    const { describeBankFile } = await import('../../reports/payments/payments.ts');
    const { text } = readSheetFile(path, ({ isMissing, cause }) =>
      refusal({
        code: 'bank_file_unreadable',
        message: isMissing ? 'The file cannot be read.' : 'The file is not UTF-8.',
        where: path,
        help: isMissing ? 'Check its path, and that this user may read it.' : 'Save it as UTF-8.',
        cause,
      }),
    );
    const { listBankEntries } = await import('../../money/payments/match-bookings.ts');
    const { decide, read } = await open();
    const now = new Date();
    const file = await decide((trx, here) => readBankFile(trx, { text, file: fileName(path), now, ...here }));
    for (const entry of file.entries) output.emit({ event: 'bank_entry', ...entry });
    for (const { accountMark: _mark, ...payment } of file.changed)
      output.emit({ event: 'payment', ...payment });
    output.emit({
      event: 'bank_file_read',
      new: file.entries.length,
      known: file.known,
      others: file.others.length,
      announced: file.announced,
      problems: file.problems,
    });
    output.show(describeBankFile(file));
    const held = await read((db) => listBankEntries(db, { onlyHeld: true }));
    const earlier = held.length - file.entries.filter(({ outcome }) => outcome === 'held').length;
    if (earlier > 0)
      output.print(
        `${plural(earlier, 'booking')} of earlier files ${earlier === 1 ? 'is' : 'are'} still held:  npx influencer-sync payments --held`,
      );
    return file.problems.length + held.length === 0 ? EXIT.ok : EXIT.rowsRejected;
  },
});

const cancelCommand = defineCommand({
  name: 'cancel',
  decides: { says: 'why', kept: 'with the payment' },
  description: 'cancel a payment; its amounts can be proposed again',
  takes: [
    ['<payment>', 'number of the payment', parseId],
    ['--not-at-bank', 'it was exported, and you know that no bank will pay it, or pay it again'],
  ],
  async action({ output, open }, { payment: paymentId, notAtBank: isNotAtBank = false, reason }) {
    const { cancelPayment } = await import('../../decisions/pay.ts');
    const { decide } = await open();
    const payment = await decide((trx, here) =>
      cancelPayment(trx, { paymentId, isNotAtBank, reason, ...here }),
    );
    output.emit({ event: 'payment_cancelled', paymentId, state: payment.state });
    output.print(
      `Payment ${paymentId} of ${formatMoney(payment.amount, payment.currency)} is cancelled. The next proposal has its amounts again.`,
    );
  },
});

const completeCommand = defineCommand({
  name: 'complete',
  decides: { says: 'how', kept: 'with the payment' },
  description: 'record that you paid the rest of a payment in another way, or the bank in another currency',
  requires: [['--on <day>', 'day on which you paid, or agreed that the rest is not owed', parseDay]],
  takes: [['<payment>', 'number of the payment', parseId]],
  /** Records that the rest of a payment was paid in another way. */
  async action({ output, open }, { payment: paymentId, on, reason }) {
    const { completePayment } = await import('../../decisions/pay.ts');
    const { decide } = await open();
    const { payment, rest } = await decide((trx, here) =>
      completePayment(trx, { paymentId, paidOn: on, reason, ...here }),
    );
    output.emit({ event: 'payment_completed', paymentId, rest, currency: payment.currency });
    output.print(
      `Payment ${paymentId} counts as paid, with ${formatMoney(rest, payment.currency)} on ${on}.`,
    );
  },
});

const settleCommand = defineCommand({
  name: 'settle',
  decides: { says: 'how', kept: 'with the payment' },
  description: 'record that you paid a creator in another way, or that what the creator owes is settled',
  requires: [
    ['--creator <name>', 'as payments propose --dry-run names it'],
    ['--currency <code>', 'such as EUR'],
    ['--on <day>', 'day on which you paid, or agreed that the debt is settled', parseDay],
  ],
  takes: [
    ['<month>', 'the last closed month', parseMonth],
    ['--owed', 'it is what the creator owes: paid back, or not to be taken back'],
  ],
  async action({ output, open }, options) {
    const { recordPaidElsewhere } = await import('../../decisions/pay.ts');
    const { config, decide } = await open();
    const { month, creator, on: paidOn, owed: isOwed = false, reason } = options;
    const currency = options.currency.toUpperCase();
    const { statements } = config;
    const { proposalId, paid } = await decide((trx, here) =>
      recordPaidElsewhere(trx, { month, statements, creator, currency, paidOn, isOwed, reason, ...here }),
    );
    output.emit({
      event: 'payment_settled',
      proposalId: options.dryRun === true ? null : proposalId,
      creator: paid.creator,
      amount: paid.amount,
      currency,
    });
    output.print(
      isDebt(paid)
        ? `What ${paid.creator} owes, ${formatDebt(paid)}, counts as settled on ${paidOn}. Nothing is set off against it any more.`
        : `${formatMoney(paid.amount, currency)} to ${paid.creator} counts as paid on ${paidOn}.`,
    );
  },
});

export const paymentsCommand = defineCommand({
  name: 'payments',
  summary: 'pay closed statements: propose, export for the bank, read back',
  description: 'list payments of closed statements and what became of them',
  takes: [
    ['--state <state>', 'only payments in this state', PAYMENT_STATES],
    ['--creator <name>', 'handle or deal, as payments name it'],
    ['--held', 'bookings of the bank that wait for a decision'],
  ],
  examples: [
    ["payments propose 2026-05 --reason 'month end'", 'one payment for each creator and currency'],
    [
      'payments propose 2026-05 --reason look --dry-run',
      'see what would be paid, and what is carried forward',
    ],
    [
      'payments export 3 --format pain.001 > may.xml',
      'the file for the bank; again, it is the same payments',
    ],
    ['payments read june.xml', 'what the bank booked: camt.053, or CSV'],
    ['payments --state exported', 'what the bank has not confirmed yet'],
    ["payments cancel 12 --reason 'wrong account'", 'free the amounts for another proposal'],
  ],
  notes:
    'Nothing here pays. You send the file to your bank. An amount of a closed statement is in one live payment at most.',
  async action({ output, open }, options) {
    const { foldHandle } = await import('../../core/text/fold.ts');
    const { listPayments } = await import('../../money/payments/keep-payments.ts');
    const { listBankEntries } = await import('../../money/payments/match-bookings.ts');
    const { describeHeld, describePayments } = await import('../../reports/payments/payments.ts');
    const { read } = await open();
    const held = await read((db) => listBankEntries(db, { onlyHeld: true }));
    for (const entry of held) output.emit({ event: 'bank_entry', ...entry });
    output.show(describeHeld(held));
    if (options.held === true) {
      if (held.length === 0) output.print('No booking waits for a decision.');
      return;
    }
    const { state = null, creator } = options;
    const all = await read((db) => listPayments(db, { state }));
    const payments = all.filter(
      (one) => creator === undefined || foldHandle(one.creator) === foldHandle(creator),
    );
    for (const { accountMark: _mark, ...payment } of payments) output.emit({ event: 'payment', ...payment });
    output.show(describePayments(payments));
  },
  commands: [
    proposeCommand,
    exportCommand,
    readCommand,
    bookingCommand('confirm', 'say that a held booking is the payment that it resembles'),
    bookingCommand('dismiss', 'say that a held booking does not count'),
    cancelCommand,
    completeCommand,
    settleCommand,
  ],
});

function bookingCommand(name: 'confirm' | 'dismiss', description: string): CommandDefinition {
  return defineCommand({
    name,
    description,
    decides: { says: 'how you know', kept: 'with the booking' },
    takes: [['<booking>', 'number of the booking', parseId]],
    async action({ output, open }, { booking, reason }) {
      const { settleBooking } = await import('../../decisions/pay.ts');
      const { outcomeOf } = await import('../../reports/payments/payments.ts');
      const { decide } = await open();
      const entry = await decide((trx, here) =>
        settleBooking(trx, { bankEntryId: booking, isPayment: name === 'confirm', reason, ...here }),
      );
      output.emit({ event: 'bank_entry', ...entry });
      output.print(
        `Booking ${booking} of ${formatMoney(entry.amount, entry.currency)}: ${outcomeOf(entry)}.`,
      );
    },
  });
}
