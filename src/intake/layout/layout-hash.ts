import { hash } from 'node:crypto';
import type { SourceSettings } from '../../config/source-fields.ts';
import type { Purpose } from '../../core/layout.ts';
import { CONSENT_LISTS } from '../customers/map/consent-words.ts';
import { layoutFor } from './layout-for.ts';
import type { Layout } from './to-layout.ts';

/**
 * Increase this when the code of this folder changes the meaning of the same layout. Held files are then read
 * again.
 */
const MEANING = 2;
/**
 * The same for customers. 3: a no is recorded and holds until a later yes with a date, and customers whose
 * consent is unknown are submitted only under a setting that says so. Every file is read again for that, and whenever the
 * words of consent and refusal change.
 */
const CONSENT_MEANING = 3;

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
    endsWithoutLineBreak,
    lines: ___,
    mayBeMissing,
    refundList,
    refundedOf,
    orderIdPattern,
    joinedColumns,
    currency: stated,
    consent,
    ...others
  } = reduced;
  const { item, ...grouping } = others.grouping;
  const { givenAt, refusedAt, ...said } = consent;
  const isOfCustomers = purpose.readFor === 'customers';
  const missing = { ...(purpose.readFor === 'orders' ? mayBeMissing : {}), ...source.missingColumns };
  const { timeZone, currency, dateOrder, decimalMark, encoding, limits } = source;
  const meaning = {
    MEANING,
    purpose: isOfCustomers ? { ...purpose, readFor: 'contacts' } : purpose,
    consent: isOfCustomers ? source.consent : null,
    ...(isOfCustomers ? { CONSENT_MEANING, CONSENT_LISTS, givenAt, refusedAt, mayBeMissing } : {}),
    // Omitted if they are not set, so that the digest of files that were read before these settings existed does
    // not change.
    layout: { ...others, grouping, consent: said, ...(belowHeader.length === 0 ? {} : { belowHeader }) },
    ...(endsWithoutLineBreak ? { endsWithoutLineBreak } : {}),
    ...(item.length > 0 ? { item } : {}),
    ...(purpose.readFor === 'orders' && source.orderLines ? { lines: layout.lines } : {}),
    // Omitted if it is empty, for the same reason.
    ...(Object.keys(missing).length === 0 ? {} : { missing: Object.keys(missing) }),
    ...(stated === null ? {} : { stated }),
    ...(refundList === null ? {} : { refundList }),
    ...(refundedOf.length === 0 ? {} : { refundedOf }),
    ...(orderIdPattern === null ? {} : { orderIdPattern }),
    ...(joinedColumns.length === 0 ? {} : { joinedColumns }),
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
