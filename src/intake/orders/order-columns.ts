import { type RawBuilder, sql } from 'kysely';
import {
  ORDER_COLUMNS,
  type OrderDoubt,
  SAME_ORDER_HOURS,
  type StagedOrder,
  SUMMER_TIME_SECONDS,
  ZONE_HOURS,
  ZONE_MINUTES,
} from '../../core/order.ts';
import { foldCode } from '../../core/text/fold.ts';
import { similarId } from '../../core/text/order-key.ts';
import { toTextArrayParameter } from '../../db/array-parameters.ts';
import { toJsonParameter } from '../../db/statement.ts';

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
 * The columns of `intake.orders` that carry the meaning of an order (core/order.ts). A list that is matched has
 * an additional folded column.
 */
export const STORED_COLUMNS: readonly StoredColumn[] = ORDER_COLUMNS.flatMap(
  (one): readonly StoredColumn[] => {
    const { field, column, type } = one;
    const own = { field, column, type, isFolded: false };
    return 'isMatched' in one ? [own, { ...own, column: `${column}_folded`, isFolded: true }] : [own];
  },
);

/** `group_key, order_id, …` as SQL, in one piece: it is compiled for each statement. */
export const columnNames = sql.raw(STORED_COLUMNS.map(({ column }) => column).join(', '));

/** The columns of known order `c`, for a version that is in doubt. */
export function columnsInDoubt(doubt: OrderDoubt | RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join(
    STORED_COLUMNS.map(({ column }) => (column === 'doubt' ? sql`${doubt}` : sql.ref(`c.${column}`))),
  );
}

/** SQL that is true if two rows were placed at times at which one order cannot be. A time that is not known proves nothing. */
export function isPlacedApart(one: string, other: string): RawBuilder<boolean> {
  const hours = sql`make_interval(hours => ${sql.lit(SAME_ORDER_HOURS)})`;
  const [a, b] = [sql.ref(`${one}.placed_at`), sql.ref(`${other}.placed_at`)];
  return sql<boolean>`coalesce(${a} not between ${b} - ${hours} and ${b} + ${hours}, false)`;
}

/** Columns that say what was bought. A null of one of them proves nothing. */
const OF_PURCHASE = [
  'total',
  'subtotal',
  'currency',
  'codes_folded',
  'links_folded',
  'influencer_handle',
  'items',
];

/** SQL that is true if two versions differ in what was bought, or by whom. What either leaves out proves nothing. */
export function isOtherPurchase(one: string, other: string): RawBuilder<boolean> {
  const differs = OF_PURCHASE.map(
    (column) => sql`${sql.ref(`${one}.${column}`)} <> ${sql.ref(`${other}.${column}`)}`,
  );
  return sql<boolean>`coalesce(${sql.join(differs, sql` or `)} or not ${isSameCustomer(one, other)}, false)`;
}

/** SQL that is true if two versions have the same customer, and null if that is not known. */
export function isSameCustomer(one: string, other: string): RawBuilder<boolean | null> {
  const of = (column: string) => [sql.ref(`${one}.${column}`), sql.ref(`${other}.${column}`)] as const;
  const [[a, b], [aNo, bNo]] = [of('customer_key'), of('customer_key_no')];
  return sql<boolean | null>`(case when ${aNo} is not distinct from ${bNo} then ${a} = ${b} end)`;
}

/** SQL for the amount of a version by which orders are compared, however a job counts their revenue. */
export function statedAmount(version: string): RawBuilder<string | null> {
  return sql<string | null>`coalesce(${sql.ref(`${version}.total`)}, ${sql.ref(`${version}.subtotal`)})`;
}

/** SQL for the minutes by which version `one` says that its order was placed later than `other` does. */
export function minutesBetween(one: string, other: string): RawBuilder<number | null> {
  return sql<
    number | null
  >`(extract(epoch from ${sql.ref(`${one}.placed_at`)} - ${sql.ref(`${other}.placed_at`)}) / 60)`;
}

/**
 * SQL for a difference in minutes as steps of time zones, if one may explain it: the same moment, read in another zone.
 * Null if none does. Times without seconds may differ by less than a minute more.
 */
export function zoneStepsOf(minutes: RawBuilder<unknown>): RawBuilder<number | null> {
  const step = sql.lit(ZONE_MINUTES);
  return sql<number | null>`(case
        when abs(${minutes}) % ${step} not between 1 and ${step} - 1
          and abs(${minutes}) < ${sql.lit(ZONE_HOURS * 60 + 1)}
          then round(${minutes} / ${step}) end)`;
}

/**
 * SQL that is true if a file states times of day, and false if it states days. Days begin at a midnight of some zone: a quarter
 * of an hour, at one time of day in UTC, and half an hour or an hour beside it while summer time counts. Null if the file may
 * do either, because it has one order, placed at such a time.
 */
export function statesTimes(sourceFileId: RawBuilder<unknown>): RawBuilder<boolean | null> {
  const ofFile = sql`from intake.orders t where t.source_file_id = ${sourceFileId}`;
  const seconds = sql`extract(epoch from t.placed_at)`;
  return sql<boolean | null>`(
        exists (select ${ofFile} and ${seconds} % ${sql.lit(ZONE_MINUTES * 60)} <> 0)
        or (select case
            when count(distinct ${seconds} % 86400) > 2
              or max(${seconds} % 86400) - min(${seconds} % 86400) not in (${sql.join(SUMMER_TIME_SECONDS)}) then true
            when count(t.placed_at) > 1 then false end ${ofFile}))`;
}

/** Returns the columns that are merged in this way when rows of an order are added up. */
export function columnsMergedBy(merge: (typeof ORDER_COLUMNS)[number]['merge']): readonly string[] {
  return ORDER_COLUMNS.filter((one) => one.merge === merge).map(({ column }) => column);
}

/**
 * A part of an order often leaves blank what the order has: a refund says when it was refunded, and no code. It keeps what
 * is known in these columns. What may be a newer state keeps only the times.
 */
export const KEPT_COLUMNS = STORED_COLUMNS.filter(
  ({ column, type }) =>
    type === 'text[]' ||
    column === 'exclusion' ||
    (column !== 'doubt' && columnsMergedBy('first').includes(column)),
).map((one) => ({ ...one, isKeptByStates: one.field === 'placedAt' || one.field === 'paidAt' }));

/** The columns of an order that are sent to the database: its meaning, its place in the file, and what is kept with it. */
export const SENT_COLUMNS: readonly Pick<StoredColumn, 'column' | 'type'>[] = [
  ...STORED_COLUMNS,
  { column: 'line_no', type: 'bigint' },
  { column: 'record_no', type: 'bigint' },
  { column: 'row_count', type: 'integer' },
  { column: 'content_hash', type: 'text' },
  { column: 'customer_key', type: 'uuid' },
  { column: 'lines', type: 'jsonb' },
  { column: 'similar_to', type: 'text' },
  { column: 'items', type: 'jsonb' },
  { column: 'changed_at', type: 'timestamptz' },
  { column: 'note', type: 'text' },
];

/** An order as it is sent: the text of each of `SENT_COLUMNS`. Null also for an empty list. */
export type OrderRow = readonly (string | null)[];

/** Position of the order's id in an `OrderRow`. */
export const ORDER_ID_AT = SENT_COLUMNS.findIndex(({ column }) => column === 'order_id');
const CHANGED_AT_AT = SENT_COLUMNS.findIndex(({ column }) => column === 'changed_at');

/**
 * SQL that is true if row `g` says nothing new of the current version `c`. Lines are no part of the digest: an order that
 * says them for the first time, or others, is another version of it. So is the time of the last change: an order that says
 * the same at a later time is staged, so that sealing keeps the time. A null of `g` says that the column is not read.
 */
export const saysNothingNew = sql<boolean | null>`
  (c.content_hash = g.content_hash and (g.lines is null or g.lines is not distinct from c.lines)
    and (g.changed_at is null or g.changed_at <= c.changed_at))`;

/** True if the row says how old it is, or that this is unknown. So does every row of a source that goes by the column. */
export function saysItsAge(row: OrderRow): boolean {
  return row[CHANGED_AT_AT] !== null;
}

/** Converts an order to the texts that are sent. Lists are sent as text, because Postgres has no arrays of arrays. */
export function toOrderRow(order: StagedOrder): OrderRow {
  const { line, record, rowCount, contentHash, customerKey, lines, items, changedAt, note } = order;
  const row = new Array<string | null>(SENT_COLUMNS.length);
  let at = 0;
  for (const { field, isFolded } of STORED_COLUMNS) {
    const value = order[field];
    if (value === null || typeof value === 'string') row[at] = value;
    else if (value.length === 0) row[at] = null;
    else row[at] = toTextArrayParameter(isFolded ? value.map(foldCode) : value);
    at += 1;
  }
  row[at] = String(line);
  row[at + 1] = String(record);
  row[at + 2] = String(rowCount);
  row[at + 3] = contentHash;
  row[at + 4] = customerKey;
  row[at + 5] = lines && toJsonParameter(lines);
  row[at + 6] = similarId(order.orderId);
  row[at + 7] = items && toJsonParameter(items);
  row[at + 8] = changedAt;
  row[at + 9] = note;
  return row;
}
