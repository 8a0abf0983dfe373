import type { ExpectedDate } from '../../core/checks/expectations.ts';
import type { FileStatistics, OrderStatistics } from '../../core/checks/file-statistics.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';

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
  };

/**
 * Reads the statistics of the latest sealed files of a source, oldest first. Only the newest of them includes
 * the names of its columns.
 */
export async function readHistory(
  db: Database,
  { source, readFor }: { readonly source: string; readonly readFor: ReadFor },
): Promise<readonly FileStatistics[]> {
  const rows = await rowsOf<StoredStatistics>(db)`
    select s.source_file_id as "sourceFileId", s.arrived_at as "arrivedAt", s.size_bytes::float8 as "sizeBytes", s.rows_read::float8 as rows,
      s.rejected_rows::float8 as "rejectedRows", s.header_hash as "headerHash",
      case when row_number() over (order by s.arrived_at desc, s.source_file_id desc) = 1 then s.header else '{}' end as header,
      s.orders_judged::float8 as judged,
      -- Null if the file was not read for orders, and of codes if it was read before their columns existed.
      coalesce(s.orders_new, 0)::float8 as new, coalesce(s.orders_known, 0)::float8 as known, coalesce(s.blank_code_orders, 0)::float8 as "blankCodes", coalesce(s.coded_orders, 0)::float8 as coded, coalesce(s.unowned_code_orders, 0)::float8 as unowned,
      coalesce(s.currencies, '{}') as currencies, coalesce(s.statuses, '{}') as statuses, coalesce(s.amounts, '{}') as amounts,
      s.newest_order_at as "newestAt", s.customers::float8, s.customers_refused::float8 as refused
    from intake.file_statistics s
    join intake.source_files f on f.source_file_id = s.source_file_id and f.state = 'sealed' and f.superseded_by is null
    where s.source = ${source} and s.read_for = ${readFor}
    order by s.arrived_at desc, s.source_file_id desc limit ${MAX_FILES}::bigint`;
  return rows.toReversed().map(toStatistics);
}

function toStatistics({ judged, customers, refused, ...stored }: StoredStatistics): FileStatistics {
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
export async function readExpectedDates(db: Database, source: string): Promise<readonly ExpectedDate[]> {
  return rowsOf<ExpectedDate>(db)`
    select to_char(day, 'YYYY-MM-DD') as day, name, source from intake.expected_dates
    where source is null or source = ${source} order by day`;
}
