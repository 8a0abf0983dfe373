import type { SourceSettings } from '../model/config.ts';
import type { ConsentRule, ContactBatch, ContactHash, PassedOver, StatedContact } from '../model/contact.ts';
import type { Layout } from '../model/layout.ts';
import type { CsvChunk, CsvRecord, RejectedRow } from '../model/record.ts';
import { isBlank } from './clean-text.ts';
import { type Fault, reject } from './fault.ts';
import { layoutFor } from './layout-for.ts';
import { foldAddress, parseAddress } from './parse-address.ts';
import { currencyParser } from './parse-currency.ts';
import { parseMoney } from './parse-money.ts';
import { type ColumnTest, type ContactPlan, planContacts } from './plan-contacts.ts';
import { type Column, resolveHeader } from './resolve-header.ts';

export type MapContactsOptions = {
  readonly layout: Layout;
  readonly source: Pick<SourceSettings, 'currency'>;
  /** Layouts to name when a header does not fit this one but another. */
  readonly otherLayouts?: readonly Layout[];
  readonly consent: ConsentRule;
  /** Digest of a folded address, for the job's brand. */
  readonly hashOf: (folded: string) => ContactHash;
};

/**
 * Makes customers of records: one row, one customer, or the reason why not. A row without an address (a line item, an order at the
 * counter, a customer with only a phone) is no fault, only passed over; what stands there and is no address is rejected.
 *
 * @returns a batch for each chunk, in which every record of it is accounted for once.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`.
 */
export async function* mapContacts(
  chunks: AsyncIterable<CsvChunk>,
  options: MapContactsOptions,
): AsyncGenerator<ContactBatch> {
  const layout = layoutFor(options.layout, 'contacts');
  if (layout === null) throw new Error(`the layout ${options.layout.name} has no column email`);
  const others = (options.otherLayouts ?? []).flatMap((other) => layoutFor(other, 'contacts') ?? []);
  let read: ((record: CsvRecord) => Read) | null = null;
  for await (const { header, records, rejected } of chunks) {
    read ??= contactReader(layout, planContacts(layout, resolveHeader(header, layout, others)), options);
    const batch = {
      contacts: [] as StatedContact[],
      passedOver: { no_address: 0, no_consent: 0, unsubscribed: 0 },
      rejected: [...rejected],
      rowsRead: rejected.length + records.length,
    };
    for (const record of records) {
      const result = read(record);
      if (typeof result === 'string') batch.passedOver[result] += 1;
      else if ('hash' in result) {
        if (result.isUnsubscribed) batch.passedOver.unsubscribed += 1;
        batch.contacts.push(result);
      } else batch.rejected.push(result);
    }
    if (batch.rowsRead > 0) yield batch;
  }
}

type Read = StatedContact | PassedOver | RejectedRow;

function contactReader(
  { money }: Layout,
  plan: ContactPlan,
  { consent, hashOf, source }: MapContactsOptions,
): (record: CsvRecord) => Read {
  const toCurrency = currencyParser(source.currency);
  return (record) => {
    const { cells } = record;
    if (plan.marks.length > 0 && firstFilled(cells, plan.marks) === null) return 'no_address';
    const emailColumn = firstFilled(cells, plan.email);
    const cell = emailColumn === null ? '' : (cells[emailColumn.index] ?? '');
    const address = parseAddress(cell);
    if (typeof address !== 'string') return rejectCell(record, address, emailColumn);
    if (address === '') return 'no_address';
    const isUnsubscribed = consent !== 'ignored' && passesAny(cells, plan.unsubscribed);
    if (!isUnsubscribed && !consents(cells, plan, consent)) return 'no_consent';
    const spent = amountIn(cells, plan.spent, (text) => parseMoney(text, money));
    const currency = toCurrency(filledValue(cells, plan.currency));
    return {
      address,
      hash: hashOf(foldAddress(address)),
      isUnsubscribed,
      ordersCount: countIn(cells, plan.ordersCount),
      spent,
      currency: spent !== null && typeof currency === 'string' ? currency : null,
      boughtWithCode: plan.codes.length === 0 ? null : firstFilled(cells, plan.codes) !== null,
    };
  };
}

function consents(cells: readonly string[], plan: ContactPlan, rule: ConsentRule): boolean {
  if (rule === 'ignored') return true;
  if (passesAny(cells, plan.refused)) return false;
  return rule === 'not_refused' || passesAny(cells, plan.given);
}

function passesAny(cells: readonly string[], tests: readonly ColumnTest[]): boolean {
  for (const { index, test } of tests) if (test(cells[index] ?? '')) return true;
  return false;
}

function firstFilled(cells: readonly string[], columns: readonly Column[]): Column | null {
  for (const column of columns) if (!isBlank(cells[column.index] ?? '')) return column;
  return null;
}

function filledValue(cells: readonly string[], columns: readonly Column[]): string {
  const column = firstFilled(cells, columns);
  return column === null ? '' : (cells[column.index] ?? '');
}

/** Counts and amounts only help to choose whom to look up: one that cannot be read is none, and costs nobody the row. */
function amountIn(
  cells: readonly string[],
  columns: readonly Column[],
  parse: (text: string) => string | Fault,
): string | null {
  const text = filledValue(cells, columns);
  if (text === '') return null;
  const amount = parse(text);
  return typeof amount === 'string' ? amount : null;
}

/** A spreadsheet may have put an apostrophe before it. More digits are no count of orders. */
const COUNT = /^\s*'?(\d{1,8})\s*$/;

function countIn(cells: readonly string[], columns: readonly Column[]): number | null {
  const [, digits] = COUNT.exec(filledValue(cells, columns)) ?? [];
  return digits === undefined ? null : Number(digits);
}

function rejectCell(record: CsvRecord, fault: Fault, column: Column | null): RejectedRow {
  const { line, cells } = record;
  const value = column === null ? null : (cells[column.index] ?? '');
  return reject({ line, record: record.record, count: 1 }, fault, {
    column: column?.name ?? null,
    value: value === null ? null : hideLetters(value),
  });
}

/**
 * What is no address may still be enough of one to reach a person (`jane@example`, `jane at example.com`, a name): first letter and
 * marks stay, so that the fault can be seen.
 */
function hideLetters(value: string): string {
  let seen = 0;
  return value.slice(0, MAX_SHOWN_CHARS).replace(/[\p{L}\p{M}\p{N}]/gu, (letter) => {
    seen += 1;
    return seen === 1 ? letter : '*';
  });
}
const MAX_SHOWN_CHARS = 80;
