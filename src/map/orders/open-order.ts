import type { SummedField } from '../../model/layout.ts';
import type { Fault, Run } from '../fault.ts';

/** An order whose rows may not all have been seen yet. Many are kept at a time, so it is flat. */
export type OpenOrder = {
  readonly key: string;
  /** One for each slot of the plan; empty where all rows so far leave it blank. */
  readonly values: string[];
  /** Different values of slots that merge `all`, beyond the first: slot and value. */
  more: { readonly slot: number; readonly value: string }[] | null;
  /** Σ over its rows in ten-thousandths; null without summed columns, or while all of them are blank. */
  sums: Partial<Record<SummedField, bigint>> | null;
  /** Its first row, and how many rows follow each other from there on. */
  readonly record: number;
  readonly line: number;
  together: number;
  /** Rows that stand apart from the first. */
  apart: Run[] | null;
  rowCount: number;
  /** The first thing that keeps it from being an order. */
  fault: { readonly fault: Fault; readonly column: string; readonly value: string } | null;
};

/** Its rows, as they stand together. */
export function runsOf({ record, line, together, apart }: OpenOrder): readonly Run[] {
  return [{ record, line, count: together }, ...(apart ?? [])];
}

/** Counts one more row. */
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
