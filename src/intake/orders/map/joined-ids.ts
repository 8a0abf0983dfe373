import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { headerWords, type LoweringMeaning, means, STATE_MEANINGS } from '../../layout/column-words.ts';
import { reasonIn, shownHeader } from '../../layout/lowering-columns.ts';
import type { Column, ResolvedHeader } from '../../layout/resolve-header.ts';
import type { Layout } from '../../layout/to-layout.ts';
import { remember } from '../../values/remember.ts';

/*
 * A layout may join the id of an order from several columns. If one of them tells sales from refunds, a sale and its refund
 * have two ids: the refund lowers no order, and the sale counts in full.
 */

const STOPS: readonly LoweringMeaning[] = ['refunded', 'cancelled'];
const KINDS: readonly LoweringMeaning[] = [...STATE_MEANINGS, ...STOPS, 'status'];

/**
 * Refuses ids that are joined from a column whose name says of which kind or in which state a row is, unless the source says
 * why it is part of them.
 *
 * @throws FileHeld `column_missing`.
 */
export function refuseJoinedKinds(
  header: ResolvedHeader,
  layout: Layout,
  { missingColumns = {} }: Partial<Pick<SourceSettings, 'missingColumns'>>,
): void {
  const kind = joinedParts(header, layout).find(
    ({ name }) => KINDS.some((meaning) => means(name, meaning)) && reasonIn(missingColumns, [name]) === null,
  );
  if (kind === undefined) return;
  const shown = shownHeader(kind.name);
  throw refusal(
    `The layout joins ids of orders from ${shown}, which may tell sales from refunds.`,
    `${ADD_UP} If ${shown} has only kinds of orders that are paid, say so with the reason under the source: missing_columns: { ${shown}: "…" }`,
  );
}

/** Creates the check of rows: it throws FileHeld `column_missing` if a word that is part of an id means a refund. */
export function watchJoinedIds(header: ResolvedHeader, layout: Layout): (record: CsvRecord) => void {
  const parts = joinedParts(header, layout);
  const isStopped = remember(
    (cell) => /^\p{L}+$/u.test(headerWords(cell)) && STOPS.some((meaning) => means(cell, meaning)),
  );
  return ({ cells, line }) => {
    for (const { index, name } of parts)
      if (isStopped(cells[index] ?? ''))
        throw refusal(
          `The layout joins ids of orders from ${shownHeader(name)}, whose word on line ${line} means a refund or a cancellation.`,
          ADD_UP,
        );
  };
}

/** The columns of a file from which the ids of its orders are joined. */
function joinedParts({ find }: ResolvedHeader, { columns, joinedColumns }: Layout): readonly Column[] {
  const ids = new Set([...(columns.order_id ?? []), ...(columns.group ?? [])].map(foldHeader));
  return joinedColumns.flatMap(({ name, columns: parts }) =>
    ids.has(foldHeader(name)) ? parts.flatMap((part) => find([part]) ?? []) : [],
  );
}

const ADD_UP =
  'Leave the column out of joined_columns. If the rows of one id add up to the total of the order, say so in the layout: grouping.sum.';

function refusal(what: string, help: string): FileHeld {
  const message = `${what} A sale and its refund would be two orders, and the sale would count in full.`;
  return new FileHeld({ code: 'column_missing', message, help });
}
