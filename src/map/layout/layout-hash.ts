import { hash } from 'node:crypto';
import type { SourceSettings } from '../../model/config.ts';
import type { Layout, Purpose } from '../../model/layout.ts';
import { layoutFor } from './layout-for.ts';

/**
 * Grows when the code of this stage gives another meaning to the same layout: what was held is then read again.
 */
const MEANING = 2;

/**
 * Digest of all that influences what a file's rows mean to its readers. Names, places and credited statuses do not.
 * Customers are `contacts` in it, as before 0.3.0, because a file with another digest is read again.
 */
export function layoutHash(layout: Layout, source: SourceSettings, purpose: Purpose): string {
  const { name: _, title: __, status, belowHeader, ...rest } = layoutFor(layout, purpose.readFor) ?? layout;
  const { timeZone, currency, dateOrder, encoding, limits } = source;
  const meaning = {
    MEANING,
    purpose: purpose.readFor === 'customers' ? { ...purpose, readFor: 'contacts' } : purpose,
    consent: purpose.readFor === 'customers' ? source.consent : null,
    // Left out where a layout has none, so that files read before there was the key keep their meaning.
    layout: belowHeader.length === 0 ? rest : { ...rest, belowHeader },
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

/** JSON with its keys sorted, so that the order in which a file lists things does not count. Lists keep theirs. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
