import { layoutFolders } from '../config/layout-folders.ts';
import { layoutFor } from '../map/layout/layout-for.ts';
import { loadLayout } from '../map/layout/load-layout.ts';
import { mapOrders } from '../map/orders/map-orders.ts';
import type { PipelineConfig, SourceSettings } from '../model/config.ts';
import { FileHeld } from '../model/held/file-held.ts';
import type { Layout, LayoutField } from '../model/layout.ts';
import { sumMoney } from '../model/money.ts';
import { type DecimalText, isExcluded, type StagedOrder } from '../model/order.ts';
import type { CsvChunk, FetchRawRows, RawRows, RejectedRow } from '../model/record.ts';
import type { RejectedRowPlace } from '../model/report.ts';
import { foldHeader } from '../model/text/fold.ts';

/** What rejected rows would become if the faulty values were correct. Contains only counts and sums. */
export type FixEffect = {
  readonly orders: number;
  /**
   * The part of `orders` with a code, link, handle or deal that is not excluded. The owner decides whether
   * they are credited.
   */
  readonly creditable: number;
  /** The part of `orders` that is cancelled, a test, or otherwise excluded by the layout. */
  readonly excluded: number;
  /** Amounts of the creditable orders whose amount the file states correctly. */
  readonly amounts: readonly { readonly currency: string; readonly amount: DecimalText }[];
  /** Number of creditable orders whose amount or currency is unknown until the row is corrected. */
  readonly unknownAmounts: number;
  /**
   * Number of rows and orders that would still be rejected, for another reason or because no substitute value
   * fits.
   */
  readonly stillRejected: number;
  /** Number of files that no longer exist or were replaced. */
  readonly gone: number;
};

/** Several columns of a row may be faulty one after the other, and several formats are tried for a time. */
const MAX_PASSES = 12;
const TIMES = ['2020-01-31T00:00:00Z', '2020-01-31 00:00:00', '2020-01-31', '01/31/2020', '31/01/2020', ''];
const MONEY: readonly LayoutField[] = ['total', 'subtotal', 'refunded'];
const TIME: readonly LayoutField[] = ['placed_at', 'paid_at', 'cancelled_at'];

/**
 * Reads rejected rows of orders again from their files, substitutes a correct value for each value with the
 * given fault, and reports which orders result. Stores nothing and guesses no amount.
 *
 * @param options.rejected rows with the same fault.
 */
export async function previewFix(options: {
  readonly config: PipelineConfig;
  readonly rejected: readonly RejectedRowPlace[];
  readonly fetchRows: FetchRawRows;
}): Promise<FixEffect> {
  const { config, rejected, fetchRows } = options;
  const effects: FileEffect[] = [];
  let gone = 0;
  const files = Map.groupBy(rejected, ({ source, uri, version }) => JSON.stringify([source, uri, version]));
  for (const rows of files.values()) {
    const [first] = rows;
    const source = first === undefined ? undefined : config.sources[first.source];
    if (first === undefined || source === undefined) continue;
    const records = rows.map(({ record, rowCount }) => ({ record, rowCount }));
    const { uri, version, code } = first;
    const raw = await fetchRows({ config, source: source.name, uri, version, records });
    if (raw === null) gone += 1;
    else {
      const layout = loadLayout(source.layout, layoutFolders(config.path));
      effects.push(await fixFile(raw, { source, layout, code }));
    }
  }
  return { ...addUp(effects), gone };
}

type FileEffect = {
  readonly orders: readonly StagedOrder[];
  /** Records whose amount or currency was substituted. */
  readonly unknown: ReadonlySet<number>;
  readonly stillRejected: number;
};

async function fixFile(
  { header, rows }: RawRows,
  {
    source,
    layout,
    code,
  }: { readonly source: SourceSettings; readonly layout: Layout; readonly code: string },
): Promise<FileEffect> {
  const cells = rows.map((row) => [...row]);
  const tried = new Map<string, number>();
  const unknown = new Set<number>();
  let atFault: ReadonlySet<number> | null = null;
  for (let pass = 0; ; pass += 1) {
    const mapped = await mapRows({ header, cells, source, layout });
    if (mapped === null) return { orders: [], unknown, stillRejected: cells.length };
    const { orders, rejected } = mapped;
    atFault ??= new Set(rejected.map(({ record }) => record));
    let isChanged = false;
    for (const { record, code: fault, column } of rejected) {
      const place = column === null ? -1 : header.indexOf(column);
      const row = cells[record - 1];
      if (fault !== code || place === -1 || row === undefined || pass === MAX_PASSES) continue;
      const fields = fieldsOf(column ?? '', layout);
      const key = `${record} ${place}`;
      const next = tried.get(key) ?? 0;
      const supposed = valuesFor(fields, { source, record })[next];
      if (supposed === undefined) continue;
      tried.set(key, next + 1);
      row[place] = supposed;
      isChanged = true;
      if (fields.some((field) => MONEY.includes(field) || field === 'currency')) unknown.add(record);
    }
    if (isChanged) continue;
    // A row that is rejected only as a customer is already an order.
    const fixed = orders.filter(({ record }) => atFault?.has(record));
    return { orders: fixed, unknown, stillRejected: rejected.length };
  }
}

/**
 * @returns null if these rows cannot be orders with any substitute values, because the file would be held.
 */
async function mapRows({
  header,
  cells,
  source,
  layout,
}: {
  readonly header: readonly string[];
  readonly cells: readonly (readonly string[])[];
  readonly source: SourceSettings;
  readonly layout: Layout;
}): Promise<{ readonly orders: readonly StagedOrder[]; readonly rejected: readonly RejectedRow[] } | null> {
  if (layoutFor(layout, 'orders') === null) return null;
  const records = cells.map((row, index) => ({ record: index + 1, line: index + 2, cells: row }));
  async function* chunks(): AsyncGenerator<CsvChunk> {
    yield { header, records, rejected: [], lost: [], open: null };
  }
  const orders: StagedOrder[] = [];
  const rejected: RejectedRow[] = [];
  try {
    for await (const batch of mapOrders(chunks(), { layout, source })) {
      orders.push(...batch.orders);
      rejected.push(...batch.rejected);
    }
  } catch (error) {
    if (error instanceof FileHeld) return null;
    throw error;
  }
  return { orders, rejected };
}

/** The fields of the layout that are read from a column. */
function fieldsOf(column: string, layout: Layout): readonly LayoutField[] {
  const name = foldHeader(column);
  return Object.entries(layout.columns).flatMap(([field, names]) =>
    names.some((one) => foldHeader(one) === name) ? [field as LayoutField] : [],
  );
}

/** Substitute values for a field, in the order in which they are tried. */
function valuesFor(
  fields: readonly LayoutField[],
  { source, record }: { readonly source: SourceSettings; readonly record: number },
): readonly string[] {
  if (fields.some((field) => MONEY.includes(field))) return ['0'];
  if (fields.includes('currency')) return [source.currency ?? 'EUR'];
  if (fields.some((field) => TIME.includes(field))) return TIMES;
  if (fields.includes('order_id') || fields.includes('group')) return [`corrected-${record}`];
  return [''];
}

function addUp(effects: readonly FileEffect[]): Omit<FixEffect, 'gone'> {
  const all = effects.flatMap(({ orders, unknown }) =>
    orders.map((order) => ({ order, isUnknown: unknown.has(order.record) || amountOf(order) === null })),
  );
  const creditable = all.filter(({ order }) => !isExcluded(order) && namesSomebody(order));
  const known = creditable.filter(({ isUnknown }) => !isUnknown);
  const byCurrency = Map.groupBy(known, ({ order }) => order.currency);
  return {
    orders: all.length,
    creditable: creditable.length,
    excluded: all.filter(({ order }) => isExcluded(order)).length,
    amounts: [...byCurrency].map(([currency, some]) => ({
      currency,
      amount: sumMoney(some.map(({ order }) => amountOf(order) ?? '0')),
    })),
    unknownAmounts: creditable.length - known.length,
    stillRejected: effects.reduce((sum, { stillRejected }) => sum + stillRejected, 0),
  };
}

/** The amount as stated in the file. Which amount a job uses depends on its `revenue` setting. */
function amountOf({ total, subtotal }: StagedOrder): DecimalText | null {
  return total ?? subtotal;
}

function namesSomebody({ codes, links, influencerHandle, dealId, collabId }: StagedOrder): boolean {
  return codes.length + links.length > 0 || (influencerHandle ?? dealId ?? collabId) !== null;
}
