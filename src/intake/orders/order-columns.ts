import { sql } from 'kysely';
import { ORDER_COLUMNS } from '../../model/order.ts';

type StoredColumn = {
  readonly field: (typeof ORDER_COLUMNS)[number]['field'];
  readonly column: string;
  readonly type: string;
  /**
   * True for the additional column of a list that is used for matching. It contains each text as `foldCode`
   * returns it.
   */
  readonly isFolded: boolean;
};

/**
 * The columns of `intake.orders` that carry the meaning of an order (model/order.ts). Each list has an
 * additional folded column.
 */
export const STORED_COLUMNS: readonly StoredColumn[] = ORDER_COLUMNS.flatMap(
  ({ field, column, type, merge }): readonly StoredColumn[] => {
    const own = { field, column, type, isFolded: false };
    return merge === 'union' ? [own, { ...own, column: `${column}_folded`, isFolded: true }] : [own];
  },
);

/** `group_key, order_id, …` as SQL, in one piece: it is compiled for each statement. */
export const columnNames = sql.raw(STORED_COLUMNS.map(({ column }) => column).join(', '));

/** Returns the columns that are merged in this way when rows of an order are added up. */
export function columnsMergedBy(merge: (typeof ORDER_COLUMNS)[number]['merge']): readonly string[] {
  return ORDER_COLUMNS.filter((one) => one.merge === merge).map(({ column }) => column);
}
