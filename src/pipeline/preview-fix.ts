import { layoutFolders } from '../config/layout-folders.ts';
import { layoutFor } from '../map/layout/layout-for.ts';
import { loadLayout } from '../map/layout/load-layout.ts';
import { mapOrders } from '../map/orders/map-orders.ts';
import type { PipelineConfig, SourceSettings } from '../model/config.ts';
import { FileHeld } from '../model/file-held.ts';
import type { Layout, LayoutField } from '../model/layout.ts';
import { sumMoney } from '../model/money.ts';
import type { DecimalText, StagedOrder } from '../model/order.ts';
import type { CsvChunk, FetchRawRows, RawRows, RejectedRow } from '../model/record.ts';
import type { RejectedRowPlace } from '../model/report.ts';
import { foldHeader } from '../model/text/fold.ts';

/** What rejected rows would come to, if the values at fault were correct. Counts and sums only. */
export type FixEffect = {
  readonly orders: number;
  /** Of these: with a code, link, handle or deal, and not excluded. Who owns it decides whether they are credited. */
  readonly creditable: number;
  /** Of these: cancelled, test or otherwise excluded by their layout. */
  readonly excluded: number;
  /** Of the creditable ones, where the file says the amount: it is not the value at fault. */
  readonly amounts: readonly { readonly currency: string; readonly amount: DecimalText }[];
  /** Creditable ones whose amount or currency nobody can know before the row is corrected. */
  readonly unknownAmounts: number;
  /** Orders that would be rejected for another cause, or of which no value can be supposed. */
  readonly stillRejected: number;
  /** Files that are gone or were replaced. */
  readonly gone: number;
};

/** One column of a row may be at fault after another; and a time is supposed in several forms. */
const MAX_PASSES = 12;
const TIMES = ['2020-01-31T00:00:00Z', '2020-01-31 00:00:00', '2020-01-31', '01/31/2020', '31/01/2020', ''];
const MONEY: readonly LayoutField[] = ['total', 'subtotal', 'refunded'];
const TIME: readonly LayoutField[] = ['placed_at', 'paid_at', 'cancelled_at'];

/**
 * Reads rejected rows of orders from their files again, supposes a correct value wherever one has the given fault, and says what orders come
 * out. Nothing is stored, and no amount is guessed.
 *
 * @param options.rejected rows of one cause.
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
  /** Records whose amount or currency was supposed. */
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
    // A row that is rejected only as a customer is an order already.
    const fixed = orders.filter(({ record }) => atFault?.has(record));
    return { orders: fixed, unknown, stillRejected: rejected.length };
  }
}

/** @returns null where these rows are no orders, whatever is supposed: that holds a file. */
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
    yield { header, records, rejected: [] };
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

/** Values that are correct in some layout, one after the other. */
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
  const creditable = all.filter(({ order }) => order.exclusion === null && namesSomebody(order));
  const known = creditable.filter(({ isUnknown }) => !isUnknown);
  const byCurrency = Map.groupBy(known, ({ order }) => order.currency);
  return {
    orders: all.length,
    creditable: creditable.length,
    excluded: all.filter(({ order }) => order.exclusion !== null).length,
    amounts: [...byCurrency].map(([currency, some]) => ({
      currency,
      amount: sumMoney(some.map(({ order }) => amountOf(order) ?? '0')),
    })),
    unknownAmounts: creditable.length - known.length,
    stillRejected: effects.reduce((sum, { stillRejected }) => sum + stillRejected, 0),
  };
}

/** As the file states it: what a job takes of it is a matter of its `revenue`. */
function amountOf({ total, subtotal }: StagedOrder): DecimalText | null {
  return total ?? subtotal;
}

function namesSomebody({ codes, links, influencerHandle, dealId, collabId }: StagedOrder): boolean {
  return codes.length + links.length > 0 || (influencerHandle ?? dealId ?? collabId) !== null;
}
