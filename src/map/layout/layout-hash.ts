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
  const { name: _, title: __, status, belowHeader, lines: ___, ...rest } = reduced;
  const { timeZone, currency, dateOrder, decimalMark = null, encoding, limits } = source;
  const meaning = {
    MEANING,
    purpose: purpose.readFor === 'customers' ? { ...purpose, readFor: 'contacts' } : purpose,
    consent: purpose.readFor === 'customers' ? source.consent : null,
    // Omitted if it is empty, so that the digest of files that were read before this setting existed does not
    // change.
    layout: belowHeader.length === 0 ? rest : { ...rest, belowHeader },
    ...(purpose.readFor === 'orders' && source.orderLines ? { lines: layout.lines } : {}),
    words: status.words,
    known: status.known,
    timeZone,
    currency,
    dateOrder,
    // Omitted like belowHeader above.
    ...(decimalMark === null ? {} : { decimalMark }),
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
