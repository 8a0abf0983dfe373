import { hash } from 'node:crypto';
import type { SourceSettings } from '../../model/config.ts';
import type { Layout, Purpose } from '../../model/layout.ts';
import { layoutFor } from './layout-for.ts';

/**
 * Increase this when the code of this stage changes the meaning of the same layout. Held files are then read
 * again.
 */
const MEANING = 2;

/**
 * Computes a digest of everything that affects the meaning of a file's rows. Names, titles and credited
 * statuses do not. The purpose of customers is `contacts` in it, as before 0.3.0, because files with another
 * digest are read again.
 */
export function layoutHash(layout: Layout, source: SourceSettings, purpose: Purpose): string {
  const reduced = layoutFor(layout, purpose.readFor) ?? layout;
  const {
    name: _,
    title: __,
    status,
    belowHeader,
    lines: ___,
    mayBeMissing,
    refundList,
    currency: stated,
    ...rest
  } = reduced;
  const missing = purpose.readFor === 'orders' ? { ...mayBeMissing, ...source.missingColumns } : {};
  const { timeZone, currency, dateOrder, encoding, limits } = source;
  const meaning = {
    MEANING,
    purpose: purpose.readFor === 'customers' ? { ...purpose, readFor: 'contacts' } : purpose,
    consent: purpose.readFor === 'customers' ? source.consent : null,
    // Omitted if it is empty, so that the digest of files that were read before this setting existed does not
    // change.
    layout: belowHeader.length === 0 ? rest : { ...rest, belowHeader },
    ...(purpose.readFor === 'orders' && source.orderLines ? { lines: layout.lines } : {}),
    // Omitted if it is empty, for the same reason.
    ...(Object.keys(missing).length === 0 ? {} : { missing: Object.keys(missing) }),
    ...(stated === null ? {} : { stated }),
    ...(refundList === null ? {} : { refundList }),
    words: status.words,
    known: status.known,
    timeZone,
    currency,
    dateOrder,
    encoding: encoding ?? layout.encoding,
    limits,
  };
  return hash('sha256', stableJson(meaning), 'base64url');
}

/**
 * Serialises JSON with sorted keys, so that the order of keys in a file does not matter. Arrays keep their
 * order.
 */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
