import { expect } from 'vitest';
import {
  type CustomersSeen,
  consentOf,
  NOBODY_PASSED_OVER,
  NOTHING_SEEN,
  PASSED_OVER,
  type PassedOver,
  type StatedCustomer,
} from '../../../../src/core/customer.ts';
import type { RejectedRow } from '../../../../src/core/record.ts';
import { parseCsv } from '../../../../src/intake/csv/parse-csv.ts';
import type {
  ConsentTrace,
  MapCustomersOptions,
} from '../../../../src/intake/customers/map/customer-reader.ts';
import { mapCustomers, traceConsent } from '../../../../src/intake/customers/map/map-customers.ts';
import { loadLayout, loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { inPieces, PARSE_OPTIONS } from '../../csv/parse-text.ts';

export type Mapped = {
  customers: StatedCustomer[];
  doubtful: StatedCustomer[];
  rejected: RejectedRow[];
  passedOver: Record<PassedOver, number>;
  rowsRead: number;
  seen: CustomersSeen;
};

/** True if the customer is recorded only so that nobody submits them. */
export function isRefused(customer: StatedCustomer): boolean {
  return consentOf(customer) === 'no';
}

/** Returns the addresses that would be submitted. */
export function submittedOf({ customers }: Mapped): readonly string[] {
  return customers.filter((customer) => !isRefused(customer)).map(({ address }) => address);
}

/** A source whose exports do not record consent. */
export const NOT_RECORDED = { source: { name: 'shop', currency: null, consent: 'not_recorded' } } as const;

/** @property end follows the last line. Default: a line break. */
type LinesOptions = Partial<MapCustomersOptions> & { readonly end?: string };

/** Parses lines as a file of a layout, with the settings of its source and of a job. */
function asFile(layoutName: string, lines: readonly string[], { end = '\r\n', ...options }: LinesOptions) {
  const layout = options.layout ?? loadLayout(layoutName);
  const parseOptions = { ...PARSE_OPTIONS, delimiter: layout.delimiter, quote: layout.quote };
  const settings: MapCustomersOptions = {
    layout,
    otherLayouts: () => loadLayouts().filter(({ name }) => name !== layoutName),
    source: { name: 'shop', currency: null, consent: 'recorded' },
    consent: 'not_refused',
    asOf: new Date('2026-04-12T00:00:00Z'),
    hashOf: (folded) => folded,
    ...options,
  };
  return { chunks: parseCsv(inPieces(`${lines.join('\r\n')}${end}`, 100), parseOptions), settings };
}

/** Returns what the rows of one person say about consent. */
export async function traceLines(
  layoutName: string,
  lines: readonly string[],
  { folded, ...options }: LinesOptions & { readonly folded: string },
): Promise<readonly ConsentTrace[]> {
  const { chunks, settings } = asFile(layoutName, lines, options);
  return Array.fromAsync(traceConsent(chunks, settings, folded));
}

/**
 * Maps lines and returns everything they yield. Hashes are the folded addresses, so that a test can read
 * them.
 */
export async function mapCustomerLines(
  layoutName: string,
  lines: readonly string[],
  options: LinesOptions = {},
): Promise<Mapped> {
  const { chunks, settings } = asFile(layoutName, lines, options);
  const mapped: Mapped = {
    customers: [],
    doubtful: [],
    rejected: [],
    passedOver: { ...NOBODY_PASSED_OVER },
    rowsRead: 0,
    seen: NOTHING_SEEN,
  };
  for await (const batch of mapCustomers(chunks, settings)) {
    mapped.customers.push(...batch.customers);
    mapped.doubtful.push(...batch.doubtful);
    mapped.rejected.push(...batch.rejected);
    mapped.rowsRead += batch.rowsRead;
    mapped.seen = batch.seen;
    for (const reason of PASSED_OVER) mapped.passedOver[reason] += batch.passedOver[reason];
  }
  const { no_address, refused, contradicting, unknown, forgotten } = mapped.passedOver;
  if (options.consent !== null)
    expect(refused + contradicting).toBe(mapped.customers.filter(isRefused).length);
  const passedOver = no_address + unknown + forgotten;
  expect(mapped.rowsRead).toBe(mapped.customers.length + passedOver + mapped.rejected.length);
  return mapped;
}
