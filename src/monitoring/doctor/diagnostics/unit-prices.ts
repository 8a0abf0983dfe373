import type { Finding } from '../../../core/finding.ts';
import { formatMoney, fromUnits, toUnits } from '../../../core/money.ts';
import { plural } from '../../../core/text/plural.ts';
import { isOfQuantity, isPerPiece } from '../../../intake/layout/column-words.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import { reasonIn, shownHeader } from '../../../intake/layout/lowering-columns.ts';
import { resolveHeader } from '../../../intake/layout/resolve-header.ts';
import { parseMoney } from '../../../intake/values/parse-money.ts';
import type { NewestFile } from '../../../runs/runnable-kind.ts';

/** Rows of the newest file to read: enough to see whether quantities differ from one. */
const MAX_ROWS = 20_000;

/**
 * Warns if the layout reads the price of one piece as the amount of an order, and a column that it does not read has the
 * quantity: by the name of the price, or because another column is their product. A source excuses the quantity by its
 * name (`missing_columns`).
 */
export async function findUnitPrices(
  { layout: whole, source, open }: NewestFile,
  file: string,
): Promise<readonly Finding[]> {
  const layout = layoutFor(whole, 'orders') ?? whole;
  const { total } = layout.grouping.sum;
  if ((total?.times?.length ?? 0) > 0) return [];
  let columns: Columns | null = null;
  const sums = { rows: 0, several: 0, alone: 0n, times: 0n };
  let products: readonly number[] = [];
  for await (const { header, records } of open()) {
    if (columns === null) {
      const { find, fields, unread, extend } = resolveHeader(header, layout);
      const price = total === undefined ? fields.total[0] : find(total.plus);
      const [quantity] = unread.filter(
        (name) => isOfQuantity(name) && !reasonIn(source.missingColumns ?? {}, [name]),
      );
      const at = header.indexOf(quantity ?? '');
      if (price == null || quantity === undefined || extend !== null) return [];
      columns = { price: price.index, quantity: at, names: [header[price.index] ?? '', quantity] };
      products = header.flatMap((_, index) => (index === price.index || index === at ? [] : [index]));
    }
    for (const { cells } of records) {
      const [price, quantity] = [cells[columns.price] ?? '', cells[columns.quantity] ?? ''].map((cell) =>
        parseMoney(cell, layout.money),
      );
      if (typeof price !== 'string' || typeof quantity !== 'string') continue;
      const product = (toUnits(price) * toUnits(quantity)) / toUnits('1');
      sums.rows += 1;
      sums.alone += toUnits(price);
      sums.times += product;
      if (toUnits(quantity) <= toUnits('1')) continue;
      sums.several += 1;
      products = products.filter((at) => {
        const amount = parseMoney(cells[at] ?? '', layout.money);
        return typeof amount === 'string' && toUnits(amount) === product;
      });
    }
    if (sums.rows >= MAX_ROWS) break;
  }
  if (columns === null || sums.several === 0) return [];
  const [name, quantity] = columns.names;
  if (!isPerPiece(name) && products.length === 0) return [];
  const [price, count] = [name, quantity].map(shownHeader);
  const say = (units: bigint): string => formatMoney(fromUnits(units), null);
  return [
    {
      status: 'warning',
      about: `source ${source.name}`,
      what: `${file}: ${count} is above 1 on ${plural(sums.several, 'row')} of ${sums.rows}, and the amount of an order is ${price} alone: ${say(sums.alone)} in all, and ${say(sums.times)} times the quantity.`,
      why: 'If it is the price of one piece, orders are credited with too little.',
      fix: `If it is, multiply it in the layout ${whole.name}, without total below columns: grouping: { sum: { total: { plus: [${price}], times: [${count}] } } }. If it is the amount of the row, say so under the source: missing_columns: { ${count}: "…" }`,
    },
  ];
}

type Columns = {
  readonly price: number;
  readonly quantity: number;
  /** The headers of both. */
  readonly names: readonly [price: string, quantity: string];
};
