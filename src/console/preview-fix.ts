import { gateOf, revenueOf, type Stop } from '../../jobs/attribute-orders/decide/gate.ts';
import type { PreviewedJob } from '../../jobs/attribute-orders/previewed-job.ts';
import { layoutFolders } from '../config/layout-folders.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import { FileHeld } from '../core/held/file-held.ts';
import type { LayoutField } from '../core/layout.ts';
import { addUp as addUpMoney, type Money } from '../core/money.ts';
import { namesOwner, type StagedOrder } from '../core/order.ts';
import type { CsvChunk, RawRows, RejectedRow } from '../core/record.ts';
import type { RejectedRowInFile } from '../core/report.ts';
import { foldHeader } from '../core/text/fold.ts';
import { layoutFor } from '../intake/layout/layout-for.ts';
import { loadLayout } from '../intake/layout/load-layout.ts';
import { statusRules } from '../intake/layout/status-rules.ts';
import type { Layout } from '../intake/layout/to-layout.ts';
import { mapOrders } from '../intake/orders/map/map-orders.ts';
import type { FetchRawRows } from '../intake/read/fetch-raw-rows.ts';

/** What rejected rows would become if the faulty values were correct. Contains only counts and sums. */
export type FixEffect = {
  readonly orders: number;
  /**
   * The part of `orders` with a code, link, handle or deal that the gate of the job passes. The owner decides whether
   * they are credited.
   */
  readonly creditable: number;
  /** The part of `orders` that is cancelled, a test, or excluded by another rule. */
  readonly excluded: number;
  /** The part of `orders` that would be held, because something else is not known. */
  readonly held: number;
  /** Amounts of the creditable orders whose amount the file states correctly. */
  readonly amounts: readonly Money[];
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
  readonly rejected: readonly RejectedRowInFile[];
  readonly fetchRows: FetchRawRows;
  /** The job that credits the orders of a source. Null: none, and they would credit nothing. */
  readonly jobOf: (source: string) => PreviewedJob | null;
}): Promise<FixEffect> {
  const { config, rejected, fetchRows, jobOf } = options;
  const effects: FileEffect[] = [];
  let gone = 0;
  const files = Map.groupBy(rejected, ({ source, uri, version }) => JSON.stringify([source, uri, version]));
  for (const rows of files.values()) {
    const [first] = rows;
    const source = first === undefined ? undefined : config.sources[first.source];
    const job = first === undefined ? null : jobOf(first.source);
    if (first === undefined || source === undefined || job === null) continue;
    const records = rows.map(({ record, rowCount }) => ({ record, rowCount }));
    const { uri, version, code } = first;
    const raw = await fetchRows({ config, source: source.name, uri, version, records });
    if (raw === null) gone += 1;
    else {
      const layout = loadLayout(source.layout, layoutFolders(config.path));
      const { orders, unknown, stillRejected } = await fixFile(raw, { source, layout, code });
      effects.push({ fixed: judgeAll(orders, { unknown, job, source, layout }), stillRejected });
    }
  }
  return { ...addUp(effects), gone };
}

type FixedFile = {
  readonly orders: readonly StagedOrder[];
  /** Records whose amount or currency was substituted. */
  readonly unknown: ReadonlySet<number>;
  readonly stillRejected: number;
};

type FixedOrder = {
  readonly outcome: 'creditable' | 'organic' | Stop['outcome'];
  /** Null if it is unknown until the row is corrected. */
  readonly money: Money | null;
};

type FileEffect = { readonly fixed: readonly FixedOrder[]; readonly stillRejected: number };

async function fixFile(
  { header, rows }: RawRows,
  { source, layout, code }: { source: SourceSettings; layout: Layout; code: string },
): Promise<FixedFile> {
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
      const fields = Object.entries(layout.columns).flatMap(([field, names]) =>
        names.some((one) => foldHeader(one) === foldHeader(column ?? '')) ? [field as LayoutField] : [],
      );
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
  header: readonly string[];
  cells: readonly (readonly string[])[];
  source: SourceSettings;
  layout: Layout;
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

/** Substitute values for a field, in the order in which they are tried. */
function valuesFor(
  fields: readonly LayoutField[],
  { source, record }: { source: SourceSettings; record: number },
): readonly string[] {
  if (fields.some((field) => MONEY.includes(field))) return ['0'];
  if (fields.includes('currency')) return [source.currency ?? 'EUR'];
  if (fields.some((field) => TIME.includes(field))) return TIMES;
  if (fields.includes('order_id') || fields.includes('group')) return [`corrected-${record}`];
  return [''];
}

/** Asks the gate of the job about each order. An amount that is not known yet is supposed to be a valid one. */
function judgeAll(
  orders: readonly StagedOrder[],
  {
    unknown,
    job,
    source,
    layout,
  }: Pick<FixedFile, 'unknown'> & {
    readonly job: PreviewedJob;
    readonly source: SourceSettings;
    readonly layout: Layout;
  },
): readonly FixedOrder[] {
  const gate = gateOf(job);
  const statuses = statusRules(layout, source, job.include);
  const exportedAtMs = Date.now();
  return orders.map((order) => {
    const isUnknown = unknown.has(order.record);
    const stop = gate.judge(isUnknown ? { ...order, ...VALID_AMOUNTS } : order, { statuses, exportedAtMs });
    const amount = isUnknown ? null : revenueOf(order, job.revenue);
    return {
      outcome:
        stop?.outcome !== 'excluded' && !namesOwner(order) ? 'organic' : (stop?.outcome ?? 'creditable'),
      money: amount === null ? null : { amount, currency: order.currency },
    };
  });
}

const VALID_AMOUNTS = { total: '1.00', subtotal: '1.00', refunded: null };

function addUp(effects: readonly FileEffect[]): Omit<FixEffect, 'gone'> {
  const all = effects.flatMap(({ fixed }) => fixed);
  const { creditable = [], excluded = [], held = [] } = Object.groupBy(all, ({ outcome }) => outcome);
  const known = creditable.flatMap(({ money }) => money ?? []);
  const byCurrency = Map.groupBy(known, ({ currency }) => currency);
  return {
    orders: all.length,
    creditable: creditable.length,
    excluded: excluded.length,
    held: held.length,
    amounts: [...byCurrency.values()].map(addUpMoney),
    unknownAmounts: creditable.length - known.length,
    stillRejected: effects.reduce((sum, { stillRejected }) => sum + stillRejected, 0),
  };
}
