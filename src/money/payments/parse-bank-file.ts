import { createHash } from 'node:crypto';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { type KnownError, type Problem, refusal } from '../../core/known-error.ts';
import { accountMark, parseIban } from '../../core/money/iban.ts';
import { OWN_REFERENCE } from '../../core/money/payments.ts';
import { type DecimalText, sumMoney } from '../../core/money.ts';
import { describeProblems, readSheet, type Sheet } from '../../core/text/read-sheet.ts';
import { DAY_MS, isDay } from '../../core/time/day.ts';
import type { MoneyFormat } from '../../intake/layout/to-layout.ts';
import { currencyParser } from '../../intake/values/parse-currency.ts';
import { parseMoneyIn } from '../../intake/values/parse-money.ts';

/** One booking in a file of the bank, or one payment of a booking that has several. */
export type Booking = {
  /** SHA-256, equal for the same booking in another file. */
  readonly key: string;
  /** `paid`: money left the account. `returned`: money came. */
  readonly kind: 'paid' | 'returned';
  readonly bookedOn: string;
  readonly amount: DecimalText;
  readonly currency: string;
  readonly endToEndId: string | null;
  /** Of the other account. Null: the file does not say it. */
  readonly accountMark: string | null;
  /** What the bank calls the booking. Null: the file does not say it. */
  readonly bankReference: string | null;
};

export type BankFile = {
  readonly bookings: readonly Booking[];
  /** Bookings that are only announced; they count once they are booked. */
  readonly announced: number;
  /** What cannot be read. None of it counts. */
  readonly problems: readonly Problem[];
};

type Found = Omit<Booking, 'key'>;

/** A month of a large account has a few MB. Both readers work in memory. */
const MAX_CHARS = 50_000_000;

/**
 * Parses a file of the bank: camt.053, or CSV with the columns of `BANK_CSV`. A booking whose day has not come yet, now or
 * when the bank created the statement, is a problem: a day and month that are swapped would say that it is paid.
 *
 * @throws KnownError `bank_file_unreadable` (exit 2) if it is neither.
 */
export function parseBankFile(text: string, { where, now }: { where: string; now: Date }): BankFile {
  const unreadable = (message: string): KnownError =>
    refusal({
      code: 'bank_file_unreadable',
      message,
      where,
      help: 'Save the statement of the account as camt.053, or as CSV with the columns reference, amount, currency, day, type. docs/payments.md explains them.',
    });
  if (text.length > MAX_CHARS) throw unreadable('The file is larger than 50 MB.');
  const start = text.replace(/^\uFEFF/, '').trimStart();
  const lastDay = lastDayAt(now);
  return start.startsWith('<')
    ? parseCamt(start, { lastDay, unreadable })
    : parseCsv(text, { where, lastDay, unreadable });
}

/** The last day that a booking can have at a time. A bank may be a day ahead, because of its time zone. */
function lastDayAt(time: Date): string {
  return new Date(time.getTime() + DAY_MS).toJSON().slice(0, 10);
}

const NOT_YET = {
  message: 'Its day is later than the file, or than today: the bank cannot have booked it yet.',
  help: 'If day and month are swapped, correct the day. Otherwise read a file of the bank that is made after that day.',
};

/** Gives each booking its key. Bookings that are equal in all they say are counted within the file. */
function withKeys(found: readonly Found[]): readonly Booking[] {
  const seen = new Map<string, number>();
  return found.map((booking) => {
    const { bankReference, kind, bookedOn, amount, currency, endToEndId, accountMark: mark } = booking;
    const same = JSON.stringify([
      bankReference,
      kind,
      bookedOn,
      sumMoney([amount]),
      currency,
      endToEndId,
      mark,
    ]);
    const place = seen.get(same) ?? 0;
    seen.set(same, place + 1);
    return { ...booking, key: createHash('sha256').update(`${same}${place}`).digest('hex') };
  });
}

/** The EndToEndId of a booking. Some banks write those of this tool in lower case. */
function endToEndIdOf(written: string): string | null {
  if (written === '' || written === 'NOTPROVIDED') return null;
  return OWN_REFERENCE.test(written) ? written.toUpperCase() : written;
}

/** An element of the file: its text if it has no attributes and no children. */
type Node = string | { readonly [name: string]: Node | readonly Node[] | undefined } | undefined;

const LISTS = new Set(['Stmt', 'Ntry', 'NtryDtls', 'TxDtls']);

function parseCamt(
  xml: string,
  { lastDay, unreadable }: { lastDay: string; unreadable: (message: string) => KnownError },
): BankFile {
  // Entities could make the file grow without limit, and no bank declares any.
  if (/<!DOCTYPE/i.test(xml)) throw unreadable('The file declares a document type, which no bank does.');
  if (XMLValidator.validate(xml) !== true) throw unreadable('The file is not whole: its XML is broken.');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    removeNSPrefix: true,
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    maxNestedTags: 40,
    isArray: (name) => LISTS.has(name),
  });
  let document: Node;
  try {
    document = parser.parse(xml) as Node;
  } catch {
    throw unreadable('The file is not whole: its XML is broken.');
  }
  const statements = nodesAt(document, 'Document', 'BkToCstmrStmt', 'Stmt');
  if (statements.length === 0) throw unreadable('The file is XML, and no camt.053.');
  const found: Found[] = [];
  const problems: Problem[] = [];
  let announced = 0;
  const written = statements.flatMap((statement) => {
    const created =
      textAt(statement, 'CreDtTm') ?? textAt(document, 'Document', 'BkToCstmrStmt', 'GrpHdr', 'CreDtTm');
    const day = created?.slice(0, 10) ?? '';
    const lastOfAll = isDay(day) ? lastDayAt(new Date(day)) : lastDay;
    const last = lastOfAll < lastDay ? lastOfAll : lastDay;
    return nodesAt(statement, 'Ntry').map((entry) => ({ entry, last }));
  });
  for (const [index, { entry, last }] of written.entries()) {
    const status = textAt(entry, 'Sts', 'Cd') ?? textAt(entry, 'Sts');
    if (status !== 'BOOK') {
      announced += 1;
      continue;
    }
    const details = nodesAt(entry, 'NtryDtls').flatMap((one) => nodesAt(one, 'TxDtls'));
    for (const detail of details.length === 0 ? [entry] : details) {
      const read = readEntry(entry, detail, details.length > 1);
      const where = `entry ${index + 1}`;
      if (typeof read === 'string')
        problems.push({
          where,
          message: read,
          help: 'Look it up in the account. If it is a payment, write it into a CSV as paid or returned, and read that (docs/payments.md).',
        });
      else if (read.bookedOn > last) problems.push({ where, ...NOT_YET });
      else found.push(read);
    }
  }
  return { bookings: withKeys(found), announced, problems };
}

/** @param isOneOfSeveral then the amount of the entry is not that of the detail. @returns why it cannot be read. */
function readEntry(entry: Node, detail: Node, isOneOfSeveral: boolean): Found | string {
  const amounts = [
    nodeAt(detail, 'AmtDtls', 'TxAmt', 'Amt'),
    nodeAt(detail, 'Amt'),
    isOneOfSeveral ? undefined : nodeAt(entry, 'Amt'),
  ];
  const money = amounts.find((one) => one !== undefined);
  const [amount, currency] = [textAt(money, '#text'), textAt(money, '@Ccy')];
  if (amount === null || currency === null) return 'Its amount or currency is missing.';
  if (!/^\d{1,14}(\.\d{1,4}0*)?$/.test(amount) || !/^[A-Z]{3}$/.test(currency) || /^[0.]*$/.test(amount))
    return 'Its amount or currency cannot be read.';
  const direction = textAt(detail, 'CdtDbtInd') ?? textAt(entry, 'CdtDbtInd');
  if (direction !== 'DBIT' && direction !== 'CRDT') return 'It does not say whether money left or came.';
  const endToEndId = endToEndIdOf(textAt(detail, 'Refs', 'EndToEndId') ?? '');
  // By ISO 20022, the reversal of a payment is a credit. Some banks write it as a debit, as the payment was.
  const isReversal = /^(?:true|1)$/.test(textAt(entry, 'RvslInd') ?? '');
  if (isReversal && direction === 'DBIT' && OWN_REFERENCE.test(endToEndId ?? ''))
    return 'It is a debit and a reversal, so the payment may have been made or may have come back.';
  const booked = textAt(entry, 'BookgDt', 'Dt') ?? textAt(entry, 'BookgDt', 'DtTm')?.slice(0, 10) ?? '';
  if (!isDay(booked)) return 'Its day is missing, or is none.';
  const other = direction === 'DBIT' ? 'CdtrAcct' : 'DbtrAcct';
  const iban = parseIban(textAt(detail, 'RltdPties', other, 'Id', 'IBAN') ?? '');
  return {
    kind: direction === 'DBIT' ? 'paid' : 'returned',
    bookedOn: booked,
    amount: sumMoney([amount.replace(/(\.\d{4})0+$/, '$1')]),
    currency,
    endToEndId,
    accountMark: iban === null ? null : accountMark(iban),
    bankReference: textAt(detail, 'Refs', 'AcctSvcrRef') ?? textAt(entry, 'AcctSvcrRef'),
  };
}

function nodeAt(node: Node, ...path: readonly string[]): Node {
  let at: Node = node;
  for (const name of path) {
    if (typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined;
    const next: Node | readonly Node[] = at[name];
    at = Array.isArray(next) ? (next[0] as Node) : (next as Node);
  }
  return at;
}

function nodesAt(node: Node, ...path: readonly string[]): readonly Node[] {
  const last = path.at(-1) ?? '';
  const parent = nodeAt(node, ...path.slice(0, -1));
  if (typeof parent !== 'object' || !Object.hasOwn(parent, last)) return [];
  const found = parent[last];
  return Array.isArray(found) ? found : [found as Node];
}

function textAt(node: Node, ...path: readonly string[]): string | null {
  const found = nodeAt(node, ...path);
  const text = typeof found === 'object' ? found['#text'] : found;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : null;
}

const BANK_CSV = ['reference', 'bank_reference', 'iban', 'amount', 'currency', 'day', 'type'] as const;
const MONEY: MoneyFormat = { decimal: '.', thousands: null, symbols: false };
const readCurrency = currencyParser(null);

const sheetUntil = (lastDay: string): Sheet<(typeof BANK_CSV)[number], Found> => ({
  columns: BANK_CSV,
  aliases: new Map(
    Object.entries({
      end_to_end_id: 'reference',
      endtoendid: 'reference',
      'end to end id': 'reference',
      date: 'day',
      booked_on: 'day',
      'booking date': 'day',
    } as const),
  ),
  required: [['reference', 'iban'], ['amount'], ['currency'], ['day'], ['type']],
  mayHaveOthers: true,
  mayBePadded: false,
  insteadOfAddress: null,
  isPersonal: true,
  readRow({ cell, refuse }) {
    const kind = cell('type').toLowerCase();
    if (kind !== 'paid' && kind !== 'returned')
      return refuse('type', 'It is unknown whether money left or came back.', 'Write paid or returned.');
    const currency = readCurrency(cell('currency'));
    if (currency === null || typeof currency !== 'string')
      return refuse('currency', 'This is not a currency.', 'Write its three letters, for example EUR.');
    const amount = parseMoneyIn(currency, cell('amount'), MONEY);
    if (amount === null || typeof amount !== 'string' || /^(-|[0.]*$)/.test(amount))
      return refuse(
        'amount',
        'This is not an amount above zero with a decimal point.',
        'Write 10.00 for 10,00 and 1000.00 for 1,000.00.',
      );
    if (!isDay(cell('day'))) return refuse('day', 'This is not a day.', 'Write 2026-06-03.');
    if (cell('day') > lastDay) return refuse('day', NOT_YET.message, NOT_YET.help);
    const iban = cell('iban') === '' ? null : parseIban(cell('iban'));
    if (iban === null && cell('iban') !== '')
      return refuse('iban', 'This is not an IBAN.', 'Correct it, or leave it blank.');
    return {
      kind,
      bookedOn: cell('day'),
      amount: sumMoney([amount]),
      currency,
      endToEndId: endToEndIdOf(cell('reference')),
      accountMark: iban === null ? null : accountMark(iban),
      bankReference: cell('bank_reference') || null,
    };
  },
});

function parseCsv(
  text: string,
  {
    where,
    lastDay,
    unreadable,
  }: { where: string; lastDay: string; unreadable: (message: string) => KnownError },
): BankFile {
  const { rows, problems, missingColumns } = readSheet(text, sheetUntil(lastDay));
  if (missingColumns.length > 0)
    throw unreadable(`The file is no camt.053, and as CSV it lacks ${missingColumns.join('; ')}.`);
  return { bookings: withKeys(rows), announced: 0, problems: describeProblems(problems, where) };
}
