import type { Layout, LayoutField, SummedField } from '../../model/layout.ts';
import type { Column, ResolvedHeader } from '../layout/resolve-header.ts';
import { cellTest } from '../layout/test-cell.ts';

/**
 * How the cells of a column come together over an order's rows: `same`, two different values contradict each other; `first`, the first
 * that is not blank; `all`, every different value counts.
 */
export type Merge = 'same' | 'first' | 'all';

/** A column that is kept of every order, and where in the order's values. */
export type Slot = Column & { readonly merge: Merge };

/** A column that is added up. */
export type SumColumn = Column & { readonly field: SummedField; readonly sign: 1n | -1n };

/** What mapping touches of a file's columns; all others are never looked at. */
export type ColumnPlan = {
  readonly group: Column;
  /** True when the order's id is what groups its rows: then it cannot be something else too. */
  readonly isGroupedById: boolean;
  readonly slots: readonly Slot[];
  /** Places in an order's values, by preference. */
  readonly fields: Readonly<Record<LayoutField, readonly number[]>>;
  readonly timeOfDay: number | null;
  /** Place of the zone of the row's times. */
  readonly zone: number | null;
  /** Places of amounts and of what is left of them after a refund. */
  readonly leftAfterRefund: readonly { readonly before: number; readonly after: number }[];
  readonly sums: readonly SumColumn[];
  readonly addsNothing: readonly { readonly index: number; readonly test: (cell: string) => boolean }[];
  readonly exclusions: readonly {
    readonly slot: number;
    readonly test: (cell: string) => boolean;
    readonly reason: string;
  }[];
  /** Places that an order's first row fills and its later rows leave blank. */
  readonly marks: readonly number[];
};

/** Fields on which rows of one order must agree, also where other columns may differ from item to item. */
const AGREED: readonly LayoutField[] = [
  'order_id',
  'status',
  'currency',
  'total',
  'subtotal',
  'refunded',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'brand_id',
];
const MARKS: readonly LayoutField[] = ['order_id', 'status', 'currency', 'total', 'subtotal', 'refunded'];

/** Decides which columns of a file are read, and how. */
export function planColumns(layout: Layout, header: ResolvedHeader): ColumnPlan {
  const slots: Slot[] = [];
  const { lineItems, sum, addsNothing } = layout.grouping;
  const [group] = header.fields.group.length > 0 ? header.fields.group : header.fields.order_id;
  if (group === undefined) throw new Error(`layout ${layout.name} does not require order_id`);

  const slotOf = (column: Column, merge: Merge): number => {
    const known = slots.findIndex((slot) => slot.index === column.index);
    return known === -1 ? slots.push({ ...column, merge }) - 1 : known;
  };
  const mergeOf = (field: LayoutField): Merge => {
    if (field === 'codes' || field === 'links') return 'all';
    if (field === 'email') return 'first';
    return lineItems && !AGREED.includes(field) ? 'first' : 'same';
  };
  const summed = new Set<string>(Object.keys(sum));
  const fields = Object.fromEntries(
    Object.entries(header.fields).map(([field, columns]) => {
      const name = field as LayoutField;
      if (name === 'group' || summed.has(name)) return [name, []];
      return [name, columns.map((column) => slotOf(column, mergeOf(name)))];
    }),
  ) as Record<LayoutField, number[]>;

  const timeColumn = header.find(layout.timeOfDay);
  const timeOfDay = timeColumn === null ? null : slotOf(timeColumn, mergeOf('placed_at'));
  const zoneColumn = header.find(layout.times.zoneColumn);
  const leftAfterRefund = layout.leftAfterRefund.flatMap((pair) => {
    const before = header.find(pair.before);
    const after = header.find(pair.after);
    if (before === null || after === null) return [];
    return [{ before: slotOf(before, 'same'), after: slotOf(after, 'same') }];
  });
  const exclusions = layout.exclusions.flatMap((rule) => {
    const column = header.find(rule.columns);
    return column === null
      ? []
      : [{ slot: slotOf(column, 'first'), test: cellTest(rule), reason: rule.reason }];
  });
  const marks = MARKS.flatMap((field) => fields[field]).filter((slot) => slots[slot]?.index !== group.index);
  return {
    group,
    isGroupedById: header.fields.order_id[0]?.index === group.index,
    slots,
    fields,
    timeOfDay,
    zone: zoneColumn === null ? null : slotOf(zoneColumn, mergeOf('placed_at')),
    leftAfterRefund,
    sums: sumColumns(layout, header),
    addsNothing: addsNothing.flatMap((test) => {
      const column = header.find(test.columns);
      return column === null ? [] : [{ index: column.index, test: cellTest(test) }];
    }),
    exclusions,
    marks,
  };
}

function sumColumns(layout: Layout, header: ResolvedHeader): SumColumn[] {
  return Object.entries(layout.grouping.sum).flatMap(([field, rule]) => {
    const columns = (names: readonly string[], sign: 1n | -1n): SumColumn[] =>
      names.flatMap((name) => {
        const column = header.find([name]);
        return column === null ? [] : [{ ...column, field: field as SummedField, sign }];
      });
    return [...columns(rule.plus, 1n), ...columns(rule.minus, -1n)];
  });
}
