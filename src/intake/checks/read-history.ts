import { sql } from 'kysely';
import type { ExpectedDate } from '../../core/checks/expectations.ts';
import type { FileStatistics, OrderStatistics } from '../../core/checks/file-statistics.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { Database } from '../../db/connect.ts';

/**
 * Maximum number of files in the history: eight weeks of files that come every half hour. For a source with
 * more files, the latest count.
 */
const MAX_FILES = 3_000;

type StoredStatistics = {
  readonly source_file_id: string;
  readonly arrived_at: Date;
  readonly size_bytes: string;
  readonly rows_read: string;
  readonly rejected_rows: string;
  readonly header: readonly string[];
  readonly header_hash: string;
  readonly orders_new: string | null;
  readonly orders_known: string | null;
  readonly orders_judged: string | null;
  readonly blank_code_orders: string | null;
  readonly coded_orders: string | null;
  readonly unowned_code_orders: string | null;
  readonly currencies: OrderStatistics['currencies'] | null;
  readonly statuses: OrderStatistics['statuses'] | null;
  readonly amounts: OrderStatistics['amounts'] | null;
  readonly newest_order_at: Date | null;
  readonly customers: string | null;
  readonly customers_refused: string | null;
};

/**
 * Reads the statistics of the latest sealed files of a source, oldest first. Only the newest of them includes
 * the names of its columns.
 */
export async function readHistory(
  db: Database,
  { source, readFor }: { readonly source: string; readonly readFor: ReadFor },
): Promise<readonly FileStatistics[]> {
  const { rows } = await sql<StoredStatistics>`
    select s.source_file_id, s.arrived_at, s.size_bytes, s.rows_read, s.rejected_rows, s.header_hash,
      case when row_number() over (order by s.arrived_at desc, s.source_file_id desc) = 1 then s.header else '{}' end as header,
      s.orders_new, s.orders_known, s.orders_judged, s.blank_code_orders, s.coded_orders, s.unowned_code_orders, s.currencies, s.statuses, s.amounts, s.newest_order_at,
      s.customers, s.customers_refused
    from intake.file_statistics s
    join intake.source_files f on f.source_file_id = s.source_file_id and f.state = 'sealed' and f.superseded_by is null
    where s.source = ${source} and s.read_for = ${readFor}
    order by s.arrived_at desc, s.source_file_id desc limit ${MAX_FILES}::bigint`.execute(db);
  return rows.toReversed().map(toStatistics);
}

function toStatistics(row: StoredStatistics): FileStatistics {
  return {
    sourceFileId: row.source_file_id,
    arrivedAt: row.arrived_at,
    sizeBytes: Number(row.size_bytes),
    rows: Number(row.rows_read),
    rejectedRows: Number(row.rejected_rows),
    header: row.header,
    headerHash: row.header_hash,
    orders:
      row.orders_judged === null
        ? null
        : {
            new: Number(row.orders_new),
            known: Number(row.orders_known),
            judged: Number(row.orders_judged),
            blankCodes: Number(row.blank_code_orders),
            // These two columns are null for files that were read before the columns existed.
            coded: Number(row.coded_orders),
            unowned: Number(row.unowned_code_orders),
            currencies: row.currencies ?? {},
            statuses: row.statuses ?? {},
            amounts: row.amounts ?? {},
            newestAt: row.newest_order_at,
          },
    consent:
      row.customers === null
        ? null
        : { customers: Number(row.customers), refused: Number(row.customers_refused) },
  };
}

/** Reads the dates on which unusual numbers of orders are expected, for this source and for all sources. */
export async function readExpectedDates(db: Database, source: string): Promise<readonly ExpectedDate[]> {
  const { rows } = await sql<ExpectedDate>`
    select to_char(day, 'YYYY-MM-DD') as day, name, source from intake.expected_dates
    where source is null or source = ${source} order by day`.execute(db);
  return rows;
}
