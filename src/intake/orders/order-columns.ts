import { sql } from 'kysely';
import { ORDER_COLUMNS } from '../../model/order.ts';

type StoredColumn = {
  readonly field: (typeof ORDER_COLUMNS)[number]['field'];
  readonly column: string;
  readonly type: string;
  /** The column beside a list by which it is matched: each text as `foldCode` has it. */
  readonly isFolded: boolean;
};

/** Columns of `intake.orders` that say what an order means (model/order.ts). A list has another one beside it. */
export const STORED_COLUMNS: readonly StoredColumn[] = ORDER_COLUMNS.flatMap(
  ({ field, column, type, merge }): readonly StoredColumn[] => {
    const own = { field, column, type, isFolded: false };
    return merge === 'union' ? [own, { ...own, column: `${column}_folded`, isFolded: true }] : [own];
  },
);

/** `group_key, order_id, …` */
export const columnNames = sql.join(STORED_COLUMNS.map(({ column }) => sql.ref(column)));

/** `group_key text, order_id text, …`, for a record set. */
export const columnDefinitions = sql.join(
  STORED_COLUMNS.map(({ column, type }) => sql`${sql.ref(column)} ${sql.raw(type)}`),
);

/** Columns that are merged in one way where rows of an order are added up. */
export function columnsMergedBy(merge: (typeof ORDER_COLUMNS)[number]['merge']): readonly string[] {
  return ORDER_COLUMNS.filter((one) => one.merge === merge).map(({ column }) => column);
}
