import { type DecimalText, isMore, sumMoney } from '../../core/money.ts';
import { foldCode, foldHandle, saysNoValue } from '../../core/text/fold.ts';
import { foldOrderId, withoutGlobalId } from '../../core/text/order-key.ts';
import { type ReadSheet, readSheet, type Sheet, type SheetRow } from '../../core/text/read-sheet.ts';
import { isDay } from '../../core/time/day.ts';
import type { MoneyFormat } from '../../intake/layout/to-layout.ts';
import { currencyParser } from '../../intake/values/parse-currency.ts';
import { parseId } from '../../intake/values/parse-id.ts';
import { parseMoneyIn } from '../../intake/values/parse-money.ts';

/** One line of a list of orders that a creator or an agency says were not credited. */
export type ClaimLine = {
  /** 1-based line of the file. */
  readonly line: number;
  /** Handle or deal of the creator, as written. */
  readonly creator: string;
  /** Null: the claim names the order by its amount and day. */
  readonly orderId: string | null;
  readonly amount: DecimalText | null;
  /** Null only without an amount. */
  readonly currency: string | null;
  /** Day of the order, in the time zone of the statements. */
  readonly day: string | null;
  readonly code: string | null;
  /** Day by which an answer is due. */
  readonly deadline: string | null;
  /** Equal for lines that are one claim: of a creator and an order, else amount, currency, day and code. */
  readonly key: string;
};

/** Columns of a list of claims, in any order. */
export const CLAIM_COLUMNS = [
  'creator',
  'order_id',
  'amount',
  'currency',
  'day',
  'code',
  'deadline',
] as const;
type ClaimColumn = (typeof CLAIM_COLUMNS)[number];

/** How networks, agencies and creators call the columns. */
const ALIASES: Readonly<Record<ClaimColumn, readonly string[]>> = {
  creator: [
    'influencer',
    'influencer_handle',
    'handle',
    'affiliate',
    'publisher',
    'partner',
    'deal',
    'deal_id',
  ],
  order_id: [
    'order',
    'order id',
    'order number',
    'order_number',
    'order no',
    'transaction id',
    'transaction_id',
  ],
  amount: ['order amount', 'order_amount', 'order value', 'sale amount', 'total', 'revenue'],
  currency: ['order currency', 'order_currency'],
  day: ['date', 'order date', 'order_date', 'ordered_on', 'sale date', 'transaction date'],
  code: ['discount code', 'discount_code', 'coupon', 'coupon code', 'coupon_code', 'voucher', 'voucher code'],
  deadline: ['answer by', 'due', 'due date', 'due_on'],
};

/** People write them, with a plain decimal point. */
const MONEY: MoneyFormat = { decimal: '.', thousands: null, symbols: false };
/** The longest handle or code that is a name and not a text. */
const MAX_NAME_CHARS = 200;

const readCurrency = currencyParser(null);

const CLAIMS: Sheet<ClaimColumn, ClaimLine> = {
  columns: CLAIM_COLUMNS,
  aliases: new Map(CLAIM_COLUMNS.flatMap((column) => ALIASES[column].map((name) => [name, column] as const))),
  required: [['creator'], ['order_id', 'amount']],
  mayHaveOthers: true,
  mayBePadded: false,
  insteadOfAddress: 'Name the creator by handle or deal, and leave customers out.',
  readRow,
};

/** Parses a list of claims. A line that cannot be used is a problem, and the others count. */
export function parseClaims(text: string): ReadSheet<ClaimLine> {
  return readSheet(text, CLAIMS);
}

function readRow({ line, cell, refuse }: SheetRow<ClaimColumn>): ClaimLine | null {
  for (const column of ['creator', 'order_id', 'code'] as const) {
    if (saysNoValue(cell(column)))
      return refuse(
        column,
        'Programs write this where there is no value.',
        'Write the value, or leave the cell blank.',
      );
    if (cell(column).length > MAX_NAME_CHARS)
      return refuse(
        column,
        `This is longer than ${MAX_NAME_CHARS} characters.`,
        'Write only the name or id.',
      );
  }
  const creator = cell('creator');
  if (foldHandle(creator) === '')
    return refuse('creator', 'The line names no creator.', 'Write the handle or the deal of the creator.');
  const id = cell('order_id') === '' ? null : parseId(cell('order_id'));
  if (id !== null && typeof id !== 'string') return refuse('order_id', id.reason, id.help);
  const orderId = id === null ? null : withoutGlobalId(id);
  const [sum, day] = [cell('amount'), cell('day') || null];
  if (orderId === null && (sum === '' || day === null))
    return refuse(
      'order_id',
      'The line names no order.',
      'Write the order id, or the amount and the day of the order.',
    );
  for (const column of ['day', 'deadline'] as const)
    if (cell(column) !== '' && !isDay(cell(column)))
      return refuse(column, 'This is not a day.', 'Write 2026-04-30.');
  const currency = sum === '' ? null : readCurrency(cell('currency'));
  if (currency !== null && typeof currency !== 'string')
    return refuse('currency', currency.reason, currency.help);
  const amount = currency === null ? null : parseMoneyIn(currency, sum, MONEY);
  if (amount !== null && (typeof amount !== 'string' || !isMore(amount, '0')))
    return refuse(
      'amount',
      typeof amount === 'string' ? 'The amount of an order is above zero.' : amount.reason,
      'Write the amount of the order with a decimal point, such as 1249.00.',
    );
  const code = cell('code') || null;
  // 45.50 and 45.5 are one amount.
  const plain = amount === null ? null : sumMoney([amount]);
  const order = orderId === null ? [plain, currency, day, foldCode(code ?? '')] : [foldOrderId(orderId)];
  const key = JSON.stringify([foldHandle(creator), ...order]);
  return { line, creator, orderId, amount, currency, day, code, deadline: cell('deadline') || null, key };
}
