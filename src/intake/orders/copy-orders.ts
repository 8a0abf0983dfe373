import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { ORDER_KEY_NO } from '../customers/rekey-customers.ts';
import { type FileRead, fenceOf, NOT_AWAITING_DISK } from '../files/fence.ts';
import { COPIED_COLUMNS, type EncodedOrders, type OrderOrigin } from './encoded-orders.ts';
import { knownWithin } from './known-range.ts';

/** SQL for the origin of the orders of a file, from a row `f` of `fenceOf`. */
const origin: RawBuilder<unknown> = sql`f.source, f.source_file_id as "sourceFileId", ${ORDER_KEY_NO} as "keyNo"`;

/** Reads what the orders of a file have in common. @returns null if another reader has taken over the file. */
export async function readOrigin(db: Database, read: FileRead): Promise<OrderOrigin | null> {
  const { rows } = await sql<OrderOrigin>`
    with fence as materialized (${fenceOf(read)}) select ${origin} from fence f`.execute(db);
  return rows[0] ?? null;
}

const COLUMN_NAMES = sql.raw(COPIED_COLUMNS.join(', '));

/**
 * Stores complete orders of a large file with COPY if all of them are new, which takes Postgres three quarters of
 * the time of `stageOrders`. The rows are the same.
 *
 * @param orders each order occurs once.
 * @returns `some_known` if an order may be known, or the key of customers was replaced since the orders were encoded:
 * nothing was stored then. `lost` if another reader has taken over the file.
 */
export async function copyNewOrders(
  db: Database,
  read: FileRead,
  orders: EncodedOrders,
): Promise<'copied' | 'some_known' | 'lost'> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<OrderOrigin & { isSomeKnown: boolean }>`
      with fence as materialized (${fenceOf(read)}), ${knownWithin(orders.ids)}
      select ${origin}, k.in_file or k.in_source as "isSomeKnown", ${NOT_AWAITING_DISK}
      from fence f cross join known k ${keepsPlan}`.execute(trx);
    const [given] = rows;
    if (given === undefined) return 'lost';
    if (given.isSomeKnown || given.keyNo !== orders.origin.keyNo) return 'some_known';
    await sql`copy intake.orders (${COLUMN_NAMES}) from stdin /* ${orders.toCopyRows()} */`.execute(trx);
    return 'copied';
  });
}
