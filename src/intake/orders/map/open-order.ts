import type { SummedField } from '../../../core/layout.ts';
import type { OrderDoubt } from '../../../core/order.ts';
import type { Fault, Run } from '../../map/fault.ts';
import type { OpenLines } from './order-lines.ts';

/** Sums of one row in ten-thousandths. */
export type ItemSums = Readonly<Partial<Record<SummedField, bigint>>>;

/** An order for which more rows may follow. Many are kept at the same time, so the type is flat. */
export type OpenOrder = {
  readonly key: string;
  /** One value for each slot of the plan. Empty if all rows so far leave it blank. */
  readonly values: string[];
  /** Further different values of slots with merge rule `all`. */
  more: { readonly slot: number; readonly value: string }[] | null;
  /** Sums over its rows in ten-thousandths. Null if no column is summed, or while all of them are blank. */
  sums: Partial<Record<SummedField, bigint>> | null;
  /** True if a row leaves blank what its item cost, so that the sums may be those of a part of the order. */
  lacksAmount: boolean;
  /** The sums of each item by its id. Null if the file does not identify them. */
  items: Map<string, ItemSums> | null;
  /** Its rows as texts, if amounts are added up and items have no ids. */
  readonly texts: Set<string> | null;
  /** Which of several joined files it began in. */
  readonly part: number;
  /** What the amounts in `sums` say about their currency, and the last that said something new. Null: nothing. */
  stated: { readonly currencies: readonly string[]; readonly column: string; readonly value: string } | null;
  /** The order lines of its rows so far. Null if the source does not ask for them. */
  lines: OpenLines | null;
  /** Its first row. `together` is the number of consecutive rows from there on. */
  readonly record: number;
  readonly line: number;
  together: number;
  /** Rows that do not follow the first ones directly. */
  apart: Run[] | null;
  rowCount: number;
  /** All states of the order in the window, this one too, if its rows say several times of its last change. */
  states: OpenOrder[] | null;
  /** Why it may not be whole, as far as its rows show. */
  doubt: OrderDoubt | null;
  /** The first fault that prevents the order from being built. */
  fault: {
    readonly fault: Fault;
    readonly column: string;
    readonly value: string;
    /** True if its rows, each in its place, state it differently. */
    readonly isContradiction?: boolean;
  } | null;
};

/** Returns its rows, in all of its states, as runs of consecutive rows. */
export function runsOf(order: OpenOrder): readonly Run[] {
  return (order.states ?? [order]).flatMap(({ record, line, together, apart }) => [
    { record, line, count: together },
    ...(apart ?? []),
  ]);
}

/** Returns the record number of its last row. */
export function lastRecordOf({ record, together, apart }: OpenOrder): number {
  const last = apart?.at(-1);
  return last === undefined ? record + together - 1 : last.record + last.count - 1;
}

/** Adds one more row. */
export function addRow(order: OpenOrder, record: number, line: number): void {
  order.rowCount += 1;
  if (order.apart === null && order.record + order.together === record) {
    order.together += 1;
    return;
  }
  order.apart ??= [];
  const last = order.apart.at(-1);
  if (last !== undefined && last.record + last.count === record) last.count += 1;
  else order.apart.push({ record, line, count: 1 });
}
