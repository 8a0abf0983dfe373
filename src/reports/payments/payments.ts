import type { StatementSettings } from '../../config/schema.ts';
import { lastFour } from '../../core/money/iban.ts';
import { formatDebt, isDebt, PAYMENT_STATES, type PaymentState } from '../../core/money/payments.ts';
import { formatAmounts, formatMoney, formatNumber, isMore, type Money } from '../../core/money.ts';
import type { Unpaid } from '../../money/payments/find-unpaid.ts';
import type { Payment, PaymentOrder } from '../../money/payments/keep-payments.ts';
import type { BankEntry, HoldReason, MatchedFile } from '../../money/payments/match-bookings.ts';
import type { BankFile } from '../../money/payments/parse-bank-file.ts';
import {
  type Block,
  column,
  creators,
  item,
  number,
  say,
  section,
  table,
  whole,
} from '../../render/block.ts';
import { renderTableCsv } from '../../render/csv.ts';
import { plural } from '../../render/text.ts';

/** What becomes of unpaid amounts, in the order of a list, and what a person can do about it. */
const BECOMES: Readonly<Record<Unpaid['becomes'], { readonly title: string; readonly help: string | null }>> =
  {
    pay: { title: 'To pay', help: null },
    former_creator: {
      title: 'Held, because a former creator of a deal owes something and has no bank data',
      help: 'Add a row with the handle of the former creator to statements.payments.payees: with the same account as the row of the new creator or the deal if both are one person, for example after a new handle; otherwise with their own. If it was paid back, or you agreed not to take it back, record that with --owed: npx influencer-sync payments settle --help',
    },
    no_bank_data: {
      title: 'No bank data, carried forward',
      help: 'Add a row with this creator and currency to statements.payments.payees. A handle with deals on several platforms may be several people: each of its deals needs a row. What was closed to a former creator of a deal needs a row with the handle of that creator. If you paid it in another way, record that: npx influencer-sync payments settle --help',
    },
    no_deal: {
      title: 'Not payable, because the orders name no deal; carried forward',
      help: 'No deal says whose they are, and no statement goes to their creator. If you paid them in another way, record that: npx influencer-sync payments settle --help',
    },
    below_minimum: {
      title: 'Below the minimum, carried forward',
      help: 'statements.payments.minimum has the amounts.',
    },
    not_positive: {
      title: 'Nothing to pay, because corrections prevail; carried forward',
      help: 'Later earnings of the creator are set off against it. If an order names no creator, nothing is. If it was paid back, or you agreed not to take it back, record that with --owed: npx influencer-sync payments settle --help',
    },
  };
const KINDS = Object.keys(BECOMES) as readonly Unpaid['becomes'][];

/** Describes what is unpaid, by what becomes of it. */
export function describeUnpaid(unpaid: readonly Unpaid[]): readonly Block[] {
  if (unpaid.length === 0) return [say('Closed statements owe nothing that is not in a payment yet.')];
  return KINDS.flatMap((kind) => {
    const own = unpaid.filter(({ becomes }) => becomes === kind);
    const { title, help } = BECOMES[kind];
    return own.length === 0
      ? []
      : section(title, {
          count: own.length,
          note: formatAmounts(own),
          help,
          parts: [
            table(own, [
              creators(({ creator }) => creator),
              number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
              whole('account', accountOf),
              column('of', ({ items }) => [...new Set(items.map(({ month }) => month))].join(', ')),
            ]),
          ],
        });
  });
}

/** The last four characters of the account; empty if there is none. */
export function accountOf({ accountMark }: { accountMark: string | null }): string {
  return accountMark === null ? '' : lastFour(accountMark);
}

/** The state of a payment for people: `partly paid: 30.00 EUR on 2026-06-03, of which elsewhere: 5.00 EUR on 2026-06-03`. */
export function stateOf(payment: Payment): string {
  const { state, paidAmount, paidOn, currency, exportedAs, elsewhere, cameBack, overpaidAmount } = payment;
  if (isDebt(payment)) return `${formatDebt(payment)} owed, settled on ${paidOn ?? ''}`;
  const parts = elsewhere.map((part) => `${formatMoney(part.amount, currency)} on ${part.paidOn}`);
  const ofWhich = parts.length === 0 ? '' : `, of which elsewhere: ${parts.join(', ')}`;
  const over = isMore(overpaidAmount, '0') ? `, and ${formatMoney(overpaidAmount, currency)} too much` : '';
  const back = cameBack.map((part) => `${formatMoney(part.amount, currency)} on ${part.bookedOn}`);
  const less = back.length === 0 ? '' : `; came back: ${back.join(', ')}`;
  if (state === 'paid') return `paid on ${paidOn ?? ''}${ofWhich}${over}${less}`;
  if (state === 'partly_paid')
    return `partly paid: ${formatMoney(paidAmount, currency)} on ${paidOn ?? ''}${ofWhich}${less}`;
  return state === 'exported' ? `exported as ${exportedAs ?? ''}` : state;
}

/** Payments by state, those of debts apart. */
function sumPayments(payments: readonly Payment[]) {
  const wordsOf = (payment: Payment) => (isDebt(payment) ? 'debt settled' : wordsOfState(payment.state));
  return [...PAYMENT_STATES.map(wordsOfState), 'debt settled'].flatMap((state) => {
    const own = payments.filter((one) => wordsOf(one) === state);
    return own.length === 0 ? [] : [{ state, payments: own }];
  });
}

function wordsOfState(state: PaymentState): string {
  return state.replace('_', ' ');
}

/** Describes payments: the sums by state, then each of them. */
export function describePayments(payments: readonly Payment[]): readonly Block[] {
  if (payments.length === 0) return [say('No payment was proposed that matches.')];
  const overpaid = payments.filter(({ overpaidAmount }) => isMore(overpaidAmount, '0'));
  return [
    ...section('Paid beyond what was owed', {
      count: overpaid.length,
      tone: 'yellow',
      why: 'It is of no statement, so it counts for no creator, and no later earnings are set off against it.',
      parts: overpaid.map(({ paymentId, creator, overpaidAmount: amount, currency }) =>
        item(`payment ${paymentId}: ${formatMoney(amount, currency)} to ${creator}`),
      ),
      help: 'If the creator pays it back, payments read counts that. If it was a bonus or an advance that is owed, write it as fixed_fee into the terms; the next statement has it, and payments settle records that it is paid.',
    }),
    ...section('Payments', {
      count: payments.length,
      parts: [
        table(sumPayments(payments), [
          column('state', ({ state }) => state),
          number('payments', (sum) => String(sum.payments.length)),
          number('amount', (sum) => formatAmounts(sum.payments)),
        ]),
      ],
    }),
    ...section('One by one', {
      parts: [
        table(payments, [
          whole('payment', ({ paymentId }) => paymentId),
          whole('proposal', ({ proposalId }) => proposalId),
          whole('until', ({ month }) => month),
          column('creator', ({ creator }) => creator),
          number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
          whole('account', accountOf),
          // It ends with the day, which is not to be cut.
          whole('state', stateOf),
        ]),
      ],
    }),
  ];
}

/** Whether a statement of this month counts as paid elsewhere, because of `statements.payments.from`. */
export function isPaidElsewhere(
  month: string,
  { payments: { from } }: { payments: Pick<StatementSettings['payments'], 'from'> },
): boolean {
  return from !== null && month < from;
}

/**
 * What became of payments, in a few words: `2 paid, 1 partly paid; in no payment: 45.35 EUR`; of a single one, when.
 *
 * @param options.unclaimed amounts of the statement that no live payment has.
 * @param options.isEarlier whether its month is before `statements.payments.from`, so that what no payment has counts
 * as paid.
 */
export function describePaid(
  payments: readonly Payment[],
  { unclaimed = [], isEarlier = false }: { unclaimed?: readonly Money[]; isEarlier?: boolean },
): string {
  const rest = isEarlier ? 'paid elsewhere' : 'in no payment';
  const live = payments.filter(({ state }) => state !== 'cancelled' && state !== 'returned');
  const [first] = live;
  if (first === undefined) return rest;
  const said =
    live.length === 1
      ? stateOf(first)
      : sumPayments(live)
          .map((sum) => `${sum.payments.length} ${sum.state}`)
          .join(', ');
  return unclaimed.length === 0 ? said : `${said}; ${rest}: ${formatAmounts(unclaimed)}`;
}

/** Why a booking does not count, and what to do. */
const HOLDS: Readonly<Record<HoldReason, string>> = {
  to_confirm: 'same amount and account, and no reference: confirm or dismiss it',
  may_be_known:
    'another booking of this payment or account has the same day and amount: if it is the same one, dismiss it; if there are two, confirm it',
  unknown_reference: 'a payment that this database does not know: was it restored?',
  other_currency:
    'another currency than the payment: dismiss it; if the bank paid the payment with it, then record that with payments complete',
  too_much:
    'more than the payment, or you paid the rest: if the bank did pay it, confirm it; what is too much stays with the creator',
  too_early:
    'its day is before the end of the month that is paid: if it is a slip, dismiss it and read a file with the right day; if not, confirm it',
  not_exported: 'no file that is in force has the payment; it may be paid twice',
  nothing_to_return: 'more came back than was paid: read the files before, too',
};

/** What became of a booking: `counted`, or why it is held. */
export function outcomeOf(entry: BankEntry): string {
  const why = describeHold(entry);
  return why === null ? entry.outcome : `held: ${why}`;
}

function describeHold({ holdReason, resembles }: BankEntry): string | null {
  if (holdReason === null) return null;
  const others = resembles.map((one) => `booking ${one.bankEntryId} of payment ${one.paymentId}`);
  return `${HOLDS[holdReason]}${others.length === 0 ? '' : `. It resembles ${others.join(', ')}`}`;
}

function bookingsTable(entries: readonly BankEntry[]) {
  return table(entries, [
    whole('booking', ({ bankEntryId }) => bankEntryId),
    whole('day', ({ bookedOn }) => bookedOn),
    column('kind', ({ kind }) => kind),
    number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
    whole('payment', ({ paymentId }) => paymentId),
    column('outcome', outcomeOf),
  ]);
}

/** Describes bookings that are held. */
export function describeHeld(entries: readonly BankEntry[]): readonly Block[] {
  return section('Bookings that are held', {
    count: entries.length,
    tone: 'yellow',
    help: 'They do not count until you decide: npx influencer-sync payments confirm BOOKING, or payments dismiss BOOKING.',
    parts: entries.map((entry) =>
      item(
        `booking ${entry.bankEntryId}: ${formatMoney(entry.amount, entry.currency)} ${entry.kind} on ${entry.bookedOn}${entry.paymentId === null ? '' : `, payment ${entry.paymentId}`}`,
        describeHold(entry),
      ),
    ),
  });
}

/** Most bookings that are listed of those that are about no payment. */
const SHOWN_OTHERS = 20;

/** Describes what a file of the bank says about payments. */
export function describeBankFile(
  file: MatchedFile & Pick<BankFile, 'announced' | 'problems'>,
): readonly Block[] {
  const { entries, known, others, announced, problems, changed } = file;
  const held = entries.filter(({ outcome }) => outcome === 'held');
  const counted = entries.filter(({ outcome }) => outcome !== 'held');
  const paid = others.filter(({ kind }) => kind === 'paid');
  return [
    say(
      `${plural(entries.length, 'new booking')} about payments, ${known} known already. Other bookings: ${others.length}, which are not kept. Only announced: ${announced}.`,
    ),
    ...section('Counted', { count: counted.length, parts: [bookingsTable(counted)] }),
    ...describeHeld(held),
    ...section('Payments that changed', {
      count: changed.length,
      parts: [
        table(changed, [
          whole('payment', ({ paymentId }) => paymentId),
          column('creator', ({ creator }) => creator),
          number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
          column('state', stateOf),
        ]),
      ],
    }),
    ...section('Paid by the account, and about no payment', {
      of: paid.length,
      note: formatAmounts(paid),
      parts: [
        table(paid.slice(0, SHOWN_OTHERS), [
          whole('day', ({ bookedOn }) => bookedOn),
          number('amount', ({ amount, currency }) => formatMoney(amount, currency)),
        ]),
      ],
    }),
    ...section('Cannot be read', {
      count: problems.length,
      tone: 'yellow',
      parts: problems.map(({ where, message, help }) => item(`${where}: ${message}`, help)),
    }),
  ];
}

/** The text on the bank statement of the creator. */
export function remittanceOf({ month, reference }: Payment): string {
  return `Earnings until ${month}, ${reference}`;
}

/** An amount as files for programs have it: `1234.50`. */
export function plainAmount(money: Money): string {
  return formatNumber(money).replaceAll(',', '');
}

/** Payments as CSV, for any bank. It has the bank data of creators. */
export function renderPaymentsCsv(orders: readonly PaymentOrder[]): string {
  return renderTableCsv(
    ['end_to_end_id', 'name', 'iban', 'bic', 'country', 'amount', 'currency', 'text'],
    orders.map((order) => [
      ...[
        order.reference,
        order.payee.name,
        order.payee.iban,
        order.payee.bic ?? '',
        order.payee.country ?? '',
      ],
      ...[plainAmount(order), order.currency, remittanceOf(order)],
    ]),
  );
}
