import type { SourceSettings } from '../../config/source-fields.ts';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import type { FileStatistics, OrderStatistics } from '../../core/checks/file-statistics.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import { type Database, rowsOf } from '../../db/statement.ts';
import type { EarlierFile } from '../layout/earlier-columns.ts';
import type { DatedFile } from './check.ts';
import type { FileCheck } from './check-file.ts';
import { createDater, judgeFile } from './judge-file.ts';

/**
 * The checks of one source while a run reads its files. Later files are also compared with files that this
 * run has read.
 */
export type SourceChecks = {
  /** @param header returns the header of the file. Called once the file was read. */
  begin(file: SourceFile, header: () => readonly string[]): Promise<OpenCheck>;
  /**
   * Seals several files. If none was sealed, the files that were learned meanwhile are forgotten.
   *
   * @param seal returns the ids of the files that were sealed, or null.
   */
  attempt(seal: () => Promise<readonly string[] | null>): Promise<readonly string[] | null>;
};

export type OpenCheck = {
  readonly check: FileCheck;
  /** Adds the file to the history that later files are compared with. */
  readonly learn: () => void;
  /**
   * Returns the earlier files, but of those with the same header only the latest one.
   *
   * @param except ids of files that are left out.
   */
  readonly earlierFiles: (except: readonly string[]) => readonly EarlierFile[];
};

/** A file in the history, and its address. */
type PastFile = DatedFile & { readonly uri: string };

/**
 * Opens the checks of a source. Reads the statistics of earlier files only when the first file is read,
 * because most runs find no new file.
 */
export function openSourceChecks(
  db: Database,
  { source, readFor }: { source: SourceSettings; readFor: ReadFor },
): SourceChecks {
  const { name, expectations } = source;
  const place = createDater(expectations.timeZone);
  let reading: ReturnType<typeof read> | null = null;
  let earlier: PastFile[] = [];

  async function read() {
    const files = await readHistory(db, { source: name, readFor });
    earlier = files.map((file) => ({ ...place(file), uri: file.uri }));
    return readExpectedDates(db, name);
  }

  /** Inserts a file behind those that arrived before it. Files need not be read in the order of their arrival. */
  function add(seen: PastFile): void {
    let [low, high] = [0, earlier.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(earlier[middle]?.arrivedAt) > seen.arrivedAt.getTime()) high = middle;
      else low = middle + 1;
    }
    earlier.splice(low, 0, seen);
  }

  return {
    async begin(file, header) {
      reading ??= read();
      const expectedDates = await reading;
      let judged: DatedFile | null = null;
      return {
        check: {
          arrivedAt: file.modifiedAt ?? null,
          sizeBytes: file.sizeBytes,
          header,
          judge(statistics, { isReread }) {
            judged = place(statistics);
            return judgeFile({ seen: judged, earlier, expectations, expectedDates, isReread });
          },
        },
        learn() {
          if (judged !== null) add({ ...judged, uri: file.uri });
        },
        earlierFiles(except) {
          const left = new Set(except);
          const others = earlier.filter(({ sourceFileId }) => !left.has(sourceFileId));
          return [...new Map(others.map((one) => [one.headerHash, one])).values()];
        },
      };
    },
    async attempt(seal) {
      reading ??= read();
      await reading;
      const before = [...earlier];
      let sealed: readonly string[] | null = null;
      try {
        sealed = await seal();
        return sealed;
      } finally {
        if (sealed === null) earlier = before;
      }
    },
  };
}

/**
 * Maximum number of files in the history: eight weeks of files that come every half hour. For a source with
 * more files, the latest count.
 */
const MAX_FILES = 3_000;

/** Statistics as they are stored. Files that were not read for their orders, or customers, have no counts of them. */
type StoredStatistics = Omit<FileStatistics, 'orders' | 'consent'> &
  Omit<OrderStatistics, 'judged'> & {
    readonly judged: number | null;
    readonly customers: number | null;
    readonly refused: number | null;
    readonly uri: string;
  };

/** Reads the statistics of the latest sealed files of a source, oldest first. Equal headers are read once. */
async function readHistory(
  db: Database,
  { source, readFor }: { source: string; readFor: ReadFor },
): Promise<readonly (FileStatistics & { readonly uri: string })[]> {
  const rows = await rowsOf<StoredStatistics>(db)`
    select s.source_file_id as "sourceFileId", s.arrived_at as "arrivedAt",
      s.size_bytes::float8 as "sizeBytes", s.rows_read::float8 as rows,
      s.rejected_rows::float8 as "rejectedRows", s.header_hash as "headerHash",
      case when row_number() over (partition by s.header_hash order by s.source_file_id) = 1 then s.header
        else '{}' end as header,
      s.uri,
      s.orders_judged::float8 as judged,
      -- Null if the file was not read for orders, and of codes if it was read before their columns existed.
      coalesce(s.orders_new, 0)::float8 as new, coalesce(s.orders_known, 0)::float8 as known,
      coalesce(s.blank_code_orders, 0)::float8 as "blankCodes", coalesce(s.coded_orders, 0)::float8 as coded,
      coalesce(s.unowned_code_orders, 0)::float8 as unowned,
      coalesce(s.currencies, '{}') as currencies, coalesce(s.statuses, '{}') as statuses,
      coalesce(s.amounts, '{}') as amounts,
      s.newest_order_at as "newestAt", s.customers::float8, s.customers_refused::float8 as refused
    from (
      select s.*, f.uri
      from intake.file_statistics s
      join intake.source_files f on f.source_file_id = s.source_file_id and f.state = 'sealed'
        and f.superseded_by is null
      where s.source = ${source} and s.read_for = ${readFor}
      order by s.arrived_at desc, s.source_file_id desc limit ${MAX_FILES}::bigint) s
    order by s.arrived_at desc, s.source_file_id desc`;
  const headers = new Map(
    rows.flatMap((row) => (row.header.length > 0 ? [[row.headerHash, row.header]] : [])),
  );
  return rows
    .toReversed()
    .map((row) => toStatistics({ ...row, header: headers.get(row.headerHash) ?? row.header }));
}

function toStatistics({ judged, customers, refused, ...stored }: StoredStatistics) {
  const {
    new: fresh,
    known,
    blankCodes,
    coded,
    unowned,
    currencies,
    statuses,
    amounts,
    newestAt,
    ...file
  } = stored;
  const counts = { new: fresh, known, blankCodes, coded, unowned, currencies, statuses, amounts, newestAt };
  return {
    ...file,
    orders: judged === null ? null : { ...counts, judged },
    consent: customers === null ? null : { customers, refused: refused ?? 0 },
  };
}

/** Reads the dates on which unusual numbers of orders are expected, for this source and for all sources. */
async function readExpectedDates(db: Database, source: string): Promise<readonly ExpectedDate[]> {
  return rowsOf<ExpectedDate>(db)`
    select to_char(day, 'YYYY-MM-DD') as day, name, source from intake.expected_dates
    where source is null or source = ${source} order by day`;
}
