import { expect } from 'vitest';
import { type MapContactsOptions, mapContacts } from '../../src/map/customers/map-contacts.ts';
import { loadLayout, loadLayouts } from '../../src/map/layout/load-layout.ts';
import {
  type ContactsSeen,
  NOTHING_SEEN,
  type PassedOver,
  type StatedContact,
} from '../../src/model/contact.ts';
import type { RejectedRow } from '../../src/model/record.ts';
import { parseCsv } from '../../src/parse/parse-csv.ts';
import { inPieces, PARSE_OPTIONS } from '../parse/parse-text.ts';

export type Mapped = {
  contacts: StatedContact[];
  rejected: RejectedRow[];
  passedOver: Record<PassedOver, number>;
  rowsRead: number;
  seen: ContactsSeen;
};

/** A source whose exports say nobody's consent. */
export const NOT_RECORDED = { source: { name: 'shop', currency: null, consent: 'not_recorded' } } as const;

/** Everything that comes of a text; hashes are the folded addresses, so that a test can read them. */
export async function mapCustomers(
  layoutName: string,
  lines: readonly string[],
  options: Partial<MapContactsOptions> = {},
): Promise<Mapped> {
  const layout = options.layout ?? loadLayout(layoutName);
  const mapped: Mapped = {
    contacts: [],
    rejected: [],
    passedOver: { no_address: 0, no_consent: 0, unsubscribed: 0 },
    rowsRead: 0,
    seen: NOTHING_SEEN,
  };
  const parseOptions = { ...PARSE_OPTIONS, delimiter: layout.delimiter, quote: layout.quote };
  const batches = mapContacts(parseCsv(inPieces(`${lines.join('\r\n')}\r\n`, 100), parseOptions), {
    layout,
    otherLayouts: loadLayouts().filter(({ name }) => name !== layoutName),
    source: { name: 'shop', currency: null, consent: 'recorded' },
    consent: 'not_refused',
    hashOf: (folded) => folded,
    ...options,
  });
  for await (const batch of batches) {
    mapped.contacts.push(...batch.contacts);
    mapped.rejected.push(...batch.rejected);
    mapped.rowsRead += batch.rowsRead;
    mapped.seen = batch.seen;
    for (const reason of ['no_address', 'no_consent', 'unsubscribed'] as const)
      mapped.passedOver[reason] += batch.passedOver[reason];
  }
  const unsubscribed = mapped.contacts.filter(({ isUnsubscribed }) => isUnsubscribed).length;
  const { no_address, no_consent } = mapped.passedOver;
  expect(mapped.passedOver.unsubscribed).toBe(unsubscribed);
  expect(mapped.rowsRead).toBe(mapped.contacts.length + no_address + no_consent + mapped.rejected.length);
  return mapped;
}
