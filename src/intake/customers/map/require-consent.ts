import type { SourceSettings } from '../../../config/source-fields.ts';
import type { ConsentRule } from '../../../core/customer.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { toNfkc } from '../../../core/text/normal-form.ts';
import { shownHeader } from '../../layout/lowering-columns.ts';
import { bestFit, provenBy, quoteAll, type ResolvedHeader } from '../../layout/resolve-header.ts';
import type { Layout, OtherLayouts } from '../../layout/to-layout.ts';

export type RequireConsentOptions = {
  readonly layout: Layout;
  /** Layouts that are searched for a consent column if this layout's are missing. */
  readonly otherLayouts: OtherLayouts;
  readonly source: Pick<SourceSettings, 'name' | 'consent'>;
  /** Null: nobody is submitted, so consent does not matter. */
  readonly rule: ConsentRule | null;
};

/**
 * Refuses a file that is not proven to be the layout's export of customers. Exports of orders are recognised
 * by their required columns, but a single column of addresses occurs in nearly every export.
 *
 * @throws FileHeld `header_mismatch`.
 */
export function requireFormat(names: readonly string[], layout: Layout): void {
  const isOfCustomers = !layout.required.includes('order_id');
  if (!isOfCustomers || layout.signature.length === 0 || provenBy(layout, names) > 0) return;
  const signs = [...new Set(layout.signature.map((set) => set.join('" with "')))];
  throw new FileHeld({
    code: 'header_mismatch',
    message: `The file has none of the columns that identify ${layout.title}: ${quoteAll(signs)}.`,
    help: `Export the file with one of these columns, or set the layout of its format on the source. For your own export, use generic-customers or a layout without signature. No customer in the file is submitted.`,
  });
}

/**
 * Refuses a file that does not show who has consented. If it were read, customers who refused would look like
 * customers who were never asked.
 *
 * @param names the header as written.
 * @throws FileHeld `column_missing`, `consent_column_missing`, `consent_column_unread`.
 */
export function requireConsent(
  names: readonly string[],
  header: ResolvedHeader,
  { layout, otherLayouts, source, rule }: RequireConsentOptions,
): void {
  if (rule === null) return;
  const wanted = layout.consent.columns;
  if (header.find(wanted) !== null) {
    requireRefusals(header, layout);
    return;
  }
  const others = otherLayouts();
  const isOfOtherThings = new Set(
    [layout, ...others].flatMap(({ columns }) => Object.values(columns).flat().map(foldHeader)),
  );
  const readers = others.filter((other) => {
    const column = header.find(other.consent.columns);
    if (column === null) return false;
    // Shops also use Status for the state of an order. It means consent only in a file that is proven to be
    // an export of that layout.
    return provenBy(other, names) > 0 || !isOfOtherThings.has(foldHeader(column.name));
  });
  const reader = bestFit(names, layout, readers) ?? readers[0];
  const unread = header.find(reader?.consent.columns ?? []);
  // The file records consent, even if the source says that it does not.
  if (reader !== undefined && unread !== null) {
    throw new FileHeld({
      code: 'consent_column_unread',
      message: `The file has a column ${quoteAll([unread.name])}, in which the layout ${reader.name} reads consent. The layout ${layout.name} does not read it.`,
      help: `Set layout: ${reader.name} under sources.${source.name} if it is such an export. Otherwise add the column to consent.columns of your layout. No customer in the file is submitted.`,
    });
  }
  if (source.consent === 'not_recorded') return;
  const near = names.filter((name) => LIKE_CONSENT.test(toNfkc(name))).slice(0, MAX_NEAR);
  const missing =
    wanted.length === 0
      ? `The layout ${layout.name} does not say which column holds consent, so it is not known who in this file has refused.`
      : `The file has no column of consent: the layout ${layout.name} looks for ${quoteAll(wanted)}.`;
  throw new FileHeld({
    code: 'consent_column_missing',
    message: `${missing}${near.length === 0 ? '' : ` The file has ${quoteAll(near)}.`}`,
    help: `Export the file with that column, or add its own column to consent.columns of the layout. If this export does not record consent, set consent: not_recorded under sources.${source.name}. No customer in the file is submitted.`,
  });
}

/**
 * Checks that a file has every column that could only take permission away. Without it, people who refused
 * would look like people who agreed.
 */
function requireRefusals(header: ResolvedHeader, layout: Layout): void {
  const { consent, unsubscribed, mayBeMissing } = layout;
  const optional = new Set(Object.keys(mayBeMissing).map(foldHeader));
  const lists = [...[...consent.refused, ...unsubscribed].map(({ columns }) => columns), consent.refusedAt];
  const missing = lists.filter(
    (columns) =>
      columns.length > 0 &&
      header.find(columns) === null &&
      !columns.some((name) => optional.has(foldHeader(name))),
  );
  const [first] = missing;
  if (first === undefined) return;
  const named = quoteAll([...new Set(missing.flatMap((columns) => columns[0] ?? []))]);
  throw new FileHeld({
    code: 'column_missing',
    message: `The file lacks ${named}, in which the layout ${layout.name} reads who has refused. Without it, people who refused would be submitted.`,
    help: `Export the file again with that column. If this export never has it and no customer can refuse there, copy ${layout.name}.yaml into layouts/ beside pipeline.yaml and add the column with the reason: may_be_missing: { ${JSON.stringify(first[0])}: "…" }. No customer in the file is submitted.`,
  });
}

/** The code of files whose people may have refused: while one is held, nobody is submitted. */
export const REFUSALS_UNREAD = 'refusals_unread';

/** A file of people who refused, by its name, with a row that does not say so. */
export function refusalsUnread(name: string): FileHeld {
  return new FileHeld({
    code: REFUSALS_UNREAD,
    message: `By the name ${shownHeader(name)}, the people in the file refused, and its rows do not say so. No customer of any file is submitted until you decide.`,
    help: `If they refused, exclude the file, and read it with a source of its own, whose layout says so of the address: refused: [{ columns: [Email], not_blank: true }]. If not, rename it, and release its old name. If you do not need it, release it.`,
  });
}

/** Headers that may contain consent. Used only for messages. */
const LIKE_CONSENT = /consent|opt.?(?:in|out)|subscri|marketing|blacklist|newsletter/iu;
const MAX_NEAR = 5;
