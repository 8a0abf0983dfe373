import type { SourceSettings } from '../../../config/source-fields.ts';
import { unknownWord } from '../../../core/held/held-order.ts';
import type { LayoutField, SummedField } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { mayLackStatus } from '../../layout/lowering-columns.ts';
import type { Column, ResolvedHeader } from '../../layout/resolve-header.ts';
import { cellTest, exclusionTest } from '../../layout/test-cell.ts';
import type { ExclusionRule, Layout } from '../../layout/to-layout.ts';
import { foldWord } from '../../values/clean-text.ts';
import { currenciesOfName } from '../../values/currency-symbols.ts';
import { type IdParser, orderIdParser } from '../../values/parse-id.ts';
import { remember } from '../../values/remember.ts';
import { type LinesPlan, planLines } from './order-lines.ts';

/**
 * How the cells of a column are merged over an order's rows. `same`: two different values contradict each
 * other. `first`: the first value that is not blank counts. `all`: every different value counts.
 */
export type Merge = 'same' | 'first' | 'all';

/** A column whose value is kept for every order. */
export type Slot = Column & { readonly merge: Merge };

/** A column that is added up. `isFirst`: it says what the item itself cost, or what was refunded of it. */
export type SumColumn = Column & {
  readonly field: SummedField;
  readonly sign: 1n | -1n;
  readonly isFirst: boolean;
  /** Columns of the quantity by which the amount is multiplied. Null: the amount is that of the row. */
  readonly times: readonly Column[] | null;
  /** The currencies that its name can mean. Empty if it states none. */
  readonly currencies: readonly string[];
};

/** The settings of a source, and of the job that reads it, by which its orders are mapped. */
export type ReadSource = Pick<SourceSettings, 'timeZone' | 'currency'> &
  Partial<Pick<SourceSettings, 'age' | 'dateOrder' | 'decimalMark' | 'orderLines' | 'missingColumns'>> & {
    /** True if the job sends the notes of the shop. */
    readonly keepsNotes?: boolean;
  };

/** The columns of a file that mapping reads. All others are ignored. */
export type ColumnPlan = {
  readonly group: Column;
  /** True if the order's id groups its rows. It then cannot have another value within the group. */
  readonly isGroupedById: boolean;
  /** Parses an order id, also that of `group`. */
  readonly orderIdOf: IdParser;
  readonly slots: readonly Slot[];
  /** Slots of each field, in order of preference. */
  readonly fields: Readonly<Record<LayoutField, readonly number[]>>;
  /** Slots whose text is kept as the note of the order. Empty unless the job asks for it. */
  readonly keptNotes: readonly number[];
  readonly timeOfDay: number | null;
  /** Slot with the time zone of the row. */
  readonly zone: number | null;
  /** Slots of cells that list refunds. */
  readonly refundLists: readonly number[];
  /** Slot of the total that the refund is a part of, if it is another one than `total`. Null if there is none. */
  readonly refundedOf: number | null;
  /** Slots of amounts, and of what is left of them after a refund. */
  readonly leftAfterRefund: readonly { readonly before: number; readonly after: number }[];
  readonly sums: readonly SumColumn[];
  /** Column that identifies an item whose amounts are added up. Null if the file has none. */
  readonly item: Column | null;
  /** Null if the source does not ask for order lines, or if the file does not contain them. */
  readonly lines: LinesPlan | null;
  readonly isRead: (index: number) => boolean;
  /** True if an order that lacks one of its rows would be another order: its amounts or its lines add up. */
  readonly needsAllRows: boolean;
  readonly addsNothing: readonly { readonly index: number; readonly test: (cell: string) => boolean }[];
  /** Tests of exclusion: the reason that a cell gives, or null. Those that a job may credit come last. */
  readonly exclusions: readonly {
    readonly slot: number;
    readonly reasonOf: (cell: string) => string | null;
  }[];
  /**
   * True if a blank status is empty text and not null, because null stands for a file without the column, whose orders
   * count.
   */
  readonly tellsBlankStatus: boolean;
  /** Slots that an order's first row fills and its later rows leave blank. */
  readonly marks: readonly number[];
};

/** Fields on which all rows of an order must agree, even if other columns may differ from item to item. */
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

/**
 * Reasons of exclusion that a person or a job may credit nevertheless. They must not hide another reason, so they are
 * tested last.
 */
const CREDITABLE: readonly string[] = ['unknown_risk', 'unknown_payment', 'draft', 'renewal'];

/**
 * Creates the function for a column of a rule: its reason if the cell passes the test, or if its word is not known.
 *
 * @param column its folded name.
 */
function reasonOf(rule: ExclusionRule, column: string): (cell: string) => string | null {
  const test = exclusionTest(rule);
  const unknown = rule.reason.replace(/^unknown_/, '');
  const read = (cell: string): string | null => {
    const says = test(cell);
    if (says === 'unknown') return unknownWord(unknown, column, foldWord(cell));
    return says === 'excluded' ? rule.reason : null;
  };
  return rule.unless === undefined ? read : remember(read);
}

/**
 * Decides which columns of a file are read, and how.
 *
 * @param source says which columns its files may lack.
 */
export function planColumns(
  layout: Layout,
  header: ResolvedHeader,
  source: Pick<ReadSource, 'missingColumns' | 'keepsNotes'>,
): ColumnPlan {
  const slots: Slot[] = [];
  const { lineItems, sum, addsNothing } = layout.grouping;
  const [group] = header.fields.group.length > 0 ? header.fields.group : header.fields.order_id;
  if (group === undefined) throw new Error(`layout ${layout.name} does not require order_id`);

  const summed = new Set<string>(Object.keys(sum));
  const slotOf = (column: Column, merge: Merge): number => {
    const known = slots.findIndex((slot) => slot.index === column.index);
    return known === -1 ? slots.push({ ...column, merge }) - 1 : known;
  };
  const mergeOf = (field: LayoutField): Merge => {
    if (field === 'codes' || field === 'links') return 'all';
    // Rows that say different times are states of the order (`OrderWindow`), or items of it that add up.
    if (field === 'changed_at') return summed.size > 0 ? 'all' : 'first';
    // Items may be a little apart. Rows that are further apart are of two orders with one id (`OrderBuilder`).
    if (field === 'placed_at' && lineItems) return 'all';
    if (field === 'email' || field === 'other_ids') return 'first';
    return lineItems && !AGREED.includes(field) ? 'first' : 'same';
  };
  const fields = Object.fromEntries(
    Object.entries(header.fields).map(([field, columns]) => {
      const name = field as LayoutField;
      if (name === 'group' || summed.has(name)) return [name, []];
      return [name, columns.map((column) => slotOf(column, mergeOf(name)))];
    }),
  ) as Record<LayoutField, number[]>;

  const timeColumn = header.find(layout.timeOfDay);
  const timeOfDay = timeColumn === null ? null : slotOf(timeColumn, lineItems ? 'first' : 'same');
  const zoneColumn = header.find(layout.times.zoneColumn);
  const refundLists = (layout.refundList?.columns ?? []).flatMap((name) => {
    const column = header.find([name]);
    return column === null ? [] : [slotOf(column, 'same')];
  });
  const refundedOfColumn = header.find(layout.refundedOf);
  const refundedOf = refundedOfColumn === null ? null : slotOf(refundedOfColumn, 'same');
  const zone = zoneColumn === null ? null : slotOf(zoneColumn, lineItems ? 'first' : 'same');
  const leftAfterRefund = layout.leftAfterRefund.flatMap((pair) => {
    const before = header.find(pair.before);
    const after = header.find(pair.after);
    if (before === null || after === null) return [];
    return [{ before: slotOf(before, 'same'), after: slotOf(after, 'same') }];
  });
  // Cells of later rows count too: one row of a test order is enough.
  const exclusions = [...layout.exclusions]
    .sort((one, other) => CREDITABLE.indexOf(one.reason) - CREDITABLE.indexOf(other.reason))
    .flatMap((rule) => {
      // A file may have two of the spellings. A word in either of them excludes the order.
      return [...new Set(rule.columns.map(foldHeader))].flatMap((name) => {
        const column = header.find([name]);
        return column === null ? [] : [{ slot: slotOf(column, 'all'), reasonOf: reasonOf(rule, name) }];
      });
    });
  const sums = sumColumns(layout, header);
  const lines = planLines(layout, header);
  const item = sums.length > 0 ? header.find(layout.grouping.item) : null;
  const { sku = [], plus = [], minus = [], times = null } = lines ?? {};
  const adding = addsNothing.flatMap((test) =>
    header.findAll(test.columns).map(({ index }) => ({ index, test: cellTest(test) })),
  );
  const read = new Set([
    ...[group, ...slots, ...sums, ...sums.flatMap((sum) => sum.times ?? []), ...adding, item ?? []]
      .flat()
      .map(({ index }) => index),
    ...[sku, plus, minus, times ?? []].flat(),
  ]);
  const marks = MARKS.flatMap((field) => fields[field]).filter((slot) => slots[slot]?.index !== group.index);
  return {
    group,
    isGroupedById: header.fields.order_id[0]?.index === group.index,
    orderIdOf: orderIdParser(layout.orderIdPattern),
    slots,
    fields,
    keptNotes: source.keepsNotes === true ? fields.notes : [],
    timeOfDay,
    zone,
    refundLists,
    refundedOf,
    leftAfterRefund,
    sums,
    item,
    lines,
    // Columns that the layout derives may come from any column.
    isRead: (index) => header.extend !== null || read.has(index),
    needsAllRows: sums.length > 0 || lines !== null,
    addsNothing: adding,
    exclusions,
    tellsBlankStatus:
      layout.status.credited !== null && fields.status.length > 0 && mayLackStatus(layout, source),
    marks,
  };
}

function sumColumns(layout: Layout, header: ResolvedHeader): SumColumn[] {
  return Object.entries(layout.grouping.sum).flatMap(([field, rule]) => {
    const columns = (names: readonly string[], how: Pick<SumColumn, 'sign' | 'times'>): SumColumn[] =>
      names.flatMap((name) => {
        const column = header.find([name]);
        const isFirst = name === (rule.plus[0] ?? rule.minus[0]);
        return column === null
          ? []
          : [{ ...column, field: field as SummedField, isFirst, currencies: currenciesOfName(name), ...how }];
      });
    const times = rule.times?.flatMap((name) => header.find([name]) ?? []) ?? null;
    return [...columns(rule.plus, { sign: 1n, times }), ...columns(rule.minus, { sign: -1n, times: null })];
  });
}
