import { layoutFolders } from '../../config/layout-folders.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { RawRecord, RawRows } from '../../core/record.ts';
import type { RejectedRowInFile } from '../../core/report.ts';
import type { SourceFile } from '../../core/source.ts';
import { listFiles } from '../../store/list-files.ts';
import { openSourceClients, type SourceClients } from '../../store/source-clients.ts';
import { parseCsv } from '../csv/parse-csv.ts';
import { toParseOptions } from '../csv/parse-options.ts';
import { readRawRecords } from '../csv/read-records.ts';
import { readText } from '../decode/read-text.ts';
import { loadLayout } from '../layout/load-layout.ts';
import { type ResolvedHeader, resolveHeader } from '../layout/resolve-header.ts';
import type { Layout } from '../layout/to-layout.ts';

/**
 * Requests rows of one version of a file. Each entry has the record number of the first row and the number of
 * rows, because a whole order may be rejected.
 */
export type RawRowsRequest = {
  readonly config: PipelineConfig;
  /** Name of the source in pipeline.yaml. */
  readonly source: string;
  readonly uri: string;
  /** Identifies the content. Another version is not read. */
  readonly version: string;
  readonly records: readonly { readonly record: number; readonly rowCount: number }[];
};

/**
 * Reads rows from their file again, because rows are not stored. The pipeline creates this function from a
 * source and a parser.
 *
 * @returns null if the file no longer exists or was replaced by another version.
 */
export type FetchRawRows = (request: RawRowsRequest) => Promise<RawRows | null>;

type Reading = {
  readonly source: SourceSettings;
  readonly layout: Layout;
  readonly file: SourceFile;
  readonly clients: SourceClients;
};

/** Record number of the header. */
const HEADER = 0;

/**
 * Reads rejected rows again from their file. If an order was rejected as a whole, reads all its rows, even if
 * they are not adjacent.
 *
 * @returns null if the file no longer exists or was replaced by another version.
 */
export async function fetchRawRows(request: RawRowsRequest): Promise<RawRows | null> {
  const { config, uri, version, records } = request;
  const source = config.sources[request.source];
  if (source === undefined) return null;
  const clients = openSourceClients();
  try {
    const file = await findFile(source, { uri, version, clients });
    if (file === null) return null;
    const layout = loadLayout(source.layout, layoutFolders(config.path));
    const reading = { source, layout, file, clients };
    const wanted = new Set([HEADER, ...records.map(({ record }) => record)]);
    const first = await readRecords(reading, wanted);
    const heads = records.filter(({ rowCount }) => rowCount > 1).map(({ record }) => record);
    const found =
      heads.length === 0
        ? first
        : await readRecords(reading, await withWholeOrders(reading, { wanted, heads, first }));
    const [header, ...rows] = found;
    if (header === undefined) return null;
    const encoding = source.encoding ?? layout.encoding;
    return { header: cellsOf(header), delimiter: header.delimiter, encoding, rows: rows.map(cellsOf) };
  } catch (error) {
    if (error instanceof FileHeld) return null;
    throw error;
  } finally {
    clients.close();
  }
}

export type FoundRows = RawRows & { readonly uri: string };

export type FetchedRows = {
  /** One item for each file that still exists in the same version. */
  readonly found: readonly FoundRows[];
  /**
   * Files that no longer exist or were replaced, with the number of rejected rows that are missing because of
   * it.
   */
  readonly gone: readonly { readonly uri: string; readonly rows: number }[];
};

/** Reads rejected rows as they appear in their files, one file after the other. */
export async function fetchRejectedRows(options: {
  readonly config: PipelineConfig;
  readonly rejected: readonly RejectedRowInFile[];
  readonly fetchRows: FetchRawRows;
}): Promise<FetchedRows> {
  const { config, rejected, fetchRows } = options;
  const found: FoundRows[] = [];
  const gone: { uri: string; rows: number }[] = [];
  // A file that was read for its orders and for its customers may have the same rows rejected twice.
  const files = Map.groupBy(rejected, ({ source, uri, version }) => JSON.stringify([source, uri, version]));
  for (const rows of files.values()) {
    const [first] = rows;
    if (first === undefined) continue;
    const { source, uri, version } = first;
    const byRecord = new Map<number, { record: number; rowCount: number }>();
    for (const { record, rowCount } of rows) {
      // Rejected as one row of customers, it may also be rejected as the first row of a whole order.
      const rowsOfBoth = Math.max(rowCount, byRecord.get(record)?.rowCount ?? 0);
      byRecord.set(record, { record, rowCount: rowsOfBoth });
    }
    const raw = await fetchRows({ config, source, uri, version, records: [...byRecord.values()] });
    if (raw === null) gone.push({ uri, rows: rows.length });
    else found.push({ ...raw, uri });
  }
  return { found, gone };
}

async function findFile(
  source: SourceSettings,
  { uri, version, clients }: { uri: string; version: string; clients: SourceClients },
): Promise<SourceFile | null> {
  for await (const file of listFiles(source, { clients }))
    if (file.uri === uri && file.version === version) return file;
  return null;
}

function openText({ source, layout, file, clients }: Reading): AsyncIterable<Uint8Array> {
  return readText(file, { source, clients, encoding: layout.encoding }).chunks;
}

async function readRecords(reading: Reading, wanted: ReadonlySet<number>): Promise<RawRecord[]> {
  const options = toParseOptions(reading.layout, reading.source.limits);
  return Array.fromAsync(readRawRecords(openText(reading), options, wanted));
}

type WholeOrders = {
  readonly wanted: ReadonlySet<number>;
  readonly heads: readonly number[];
  readonly first: readonly RawRecord[];
};

/**
 * Returns the wanted record numbers, plus those of all rows with the same group key as one of the `heads`.
 */
async function withWholeOrders(
  reading: Reading,
  { wanted, heads, first }: WholeOrders,
): Promise<ReadonlySet<number>> {
  const { layout, source } = reading;
  const numbers = new Set(wanted);
  const keys = new Set<string>();
  let keyOf: ((cells: readonly string[]) => string) | null = null;
  for await (const { header, records } of parseCsv(
    openText(reading),
    toParseOptions(layout, source.limits),
  )) {
    if (keyOf === null) {
      keyOf = groupKeys(resolveHeader(header, layout));
      for (const { record, cells } of first) if (heads.includes(record)) keys.add(keyOf(cells ?? []));
    }
    for (const { record, cells } of records) if (keys.has(keyOf(cells))) numbers.add(record);
  }
  return numbers;
}

/** Returns a function for the order id of a row: the first non-empty cell of the columns that may hold it. */
function groupKeys({ ids, extend }: ResolvedHeader): (cells: readonly string[]) => string {
  const columns = ids.group.length > 0 ? ids.group : ids.orderId;
  return (cells) => {
    const extended = extend === null ? cells : extend(cells);
    return columns.map(({ index }) => extended[index] ?? '').find((cell) => cell.trim() !== '') ?? '';
  };
}

/** The cells of a row. A row with broken quoting is kept as one cell, as it appears in the file. */
function cellsOf({ cells, raw }: RawRecord): readonly string[] {
  return cells ?? [raw];
}
