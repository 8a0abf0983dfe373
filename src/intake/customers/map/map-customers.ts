import {
  type CustomerBatch,
  consentOf,
  NOBODY_PASSED_OVER,
  type StatedCustomer,
} from '../../../core/customer.ts';
import type { CsvChunk } from '../../../core/record.ts';
import { refusalInName } from './consent-words.ts';
import {
  type ConsentTrace,
  type CustomerReader,
  type MapCustomersOptions,
  openReader,
} from './customer-reader.ts';
import { refusalsUnread } from './require-consent.ts';

/**
 * Converts records to customers: each row is one customer, or the reason why it is not. A row without an
 * address (a line item, an order at the counter, a customer with only a phone) is skipped without a fault. A
 * value that is not an address is rejected.
 *
 * @returns a batch for each chunk. Every record is counted exactly once.
 * @throws FileHeld `header_mismatch`, `ambiguous_header`, `column_missing`, `consent_column_missing`,
 * `consent_column_unread`, `may_be_cut`, `refusals_unread`.
 */
export async function* mapCustomers(
  chunks: AsyncIterable<CsvChunk>,
  options: MapCustomersOptions,
): AsyncGenerator<CustomerBatch> {
  let reader: CustomerReader | null = null;
  const isOfOrders = options.layout.required.includes('order_id');
  const refusing = options.consent === null || isOfOrders ? null : refusalInName(options.uri ?? '');
  for await (const { header, records, rejected, open } of chunks) {
    reader ??= openReader(header, options);
    reader.requireWhole(open);
    const batch = {
      customers: [] as StatedCustomer[],
      doubtful: [] as StatedCustomer[],
      passedOver: { ...NOBODY_PASSED_OVER },
      rejected: [...rejected],
      rowsRead: rejected.length + records.length,
    };
    for (const record of records) {
      const result = reader.read(record);
      if (refusing !== null && mayAgree(result)) throw refusalsUnread(refusing);
      if (typeof result === 'string') batch.passedOver[result] += 1;
      else if ('hash' in result) {
        if (consentOf(result) === 'no') batch.passedOver[result.saidYes ? 'contradicting' : 'refused'] += 1;
        batch.customers.push(result);
      } else {
        batch.rejected.push(result.row);
        batch.doubtful.push(...result.doubtful);
      }
    }
    if (batch.rowsRead > 0) yield { ...batch, seen: reader.seen() };
  }
}

/** True if a row names somebody and does not say that they refused. */
function mayAgree(result: ReturnType<CustomerReader['read']>): boolean {
  return (
    result === 'unknown' || (typeof result === 'object' && 'hash' in result && consentOf(result) !== 'no')
  );
}

/**
 * Yields what the rows of one person say about consent. The words are values of the file: show them to the
 * person who asked, and store and log nothing of them.
 *
 * @param folded the address of the person, as `foldAddress` returns it.
 * @throws FileHeld like `mapCustomers`. Nothing in the file counts then, the rows before it included.
 */
export async function* traceConsent(
  chunks: AsyncIterable<CsvChunk>,
  options: MapCustomersOptions,
  folded: string,
): AsyncGenerator<ConsentTrace> {
  let reader: CustomerReader | null = null;
  for await (const { header, records, open } of chunks) {
    reader ??= openReader(header, options);
    for (const record of records) {
      const trace = reader.trace(record, folded, open);
      if (trace !== null) yield trace;
    }
    reader.requireWhole(open);
  }
}
