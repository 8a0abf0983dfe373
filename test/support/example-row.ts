import type { LayoutField } from '../../src/core/layout.ts';
import { foldHeader } from '../../src/core/text/fold.ts';
import { listSpellings } from '../../src/intake/layout/resolve-header.ts';
import type { ExclusionRule, Layout } from '../../src/intake/layout/to-layout.ts';

/** A file of one order that is credited: the header and the cells of its row, and what its source must give. */
export type ExampleRow = {
  readonly header: readonly string[];
  readonly cells: readonly string[];
  readonly source: { readonly timeZone: string | null; readonly currency: string | null };
  /** The same file with another cell in a column. */
  readonly with: (column: string, cell: string) => ExampleRow;
  /** The same file without a column. */
  readonly without: (column: string) => ExampleRow;
  /** The same file with one more column. */
  readonly plus: (column: string, cell: string) => ExampleRow;
  /** The file as text, in the syntax of its layout. */
  readonly text: () => string;
};

/** The code that the example names, and its revenue. */
const EXAMPLE_CODE = 'MIA10';
export const EXAMPLE_REVENUE = '100.00';

const BY_FIELD: Readonly<Partial<Record<LayoutField, string>>> = {
  group: '700123',
  order_id: '700123',
  order_name: '700123',
  currency: 'EUR',
  refunded: '0.00',
  codes: EXAMPLE_CODE,
  notes: `ref: ${EXAMPLE_CODE}`,
  email: 'kim@example.com',
};

/** Cells that no rule of a layout implies: words of the format that say that a payment is a payment. */
const BY_COLUMN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'etsy-orders': {
    'Adjusted Order Total': '0.00',
    'Order Net': '95.00',
    'Card Processing Fees': '5.00',
    'Adjusted Net Order Amount': '95.00',
    'Adjusted Card Processing Fees': '5.00',
  },
  generic: { paid_at: '2026-05-14T10:15:00+02:00' },
  'matrixify-orders': { 'Line: Type': 'Discount', 'Line: Title': EXAMPLE_CODE, 'Line: Total': '' },
  'paypal-activity': { Type: 'Express Checkout Payment' },
  'square-sales': {
    'Event Type': 'Payment',
    'Net Sales': EXAMPLE_REVENUE,
    Tax: '0.00',
    'Partial Refunds': '0.00',
    Date: '2026-05-14',
    Time: '10:15:00',
  },
  'shopify-orders': { 'Payment Method': 'Shopify Payments', Source: 'web' },
};

/** How formats of times write the same moment. */
const TIMES: Readonly<Record<string, string>> = {
  iso: '2026-05-14T10:15:00+02:00',
  'YYYY-MM-DD H:mm:ss': '2026-05-14 10:15:00',
  'M/D/YYYY H:mm:ss': '5/14/2026 10:15:00',
  'M/D/YYYY h:mm:ss A': '5/14/2026 10:15:00 AM',
  'MMM-D-YY': 'May-14-26',
  'M/D/YY': '05/14/26',
  'MMM D, YYYY h:mm:ss A': 'May 14, 2026 10:15:00 AM',
  'D/M/YYYY H:mm:ss': '14/05/2026 10:15:00',
};

/**
 * Makes a file with one order that a job credits, for a layout of orders. It has one column for each thing that
 * the layout names, so that a test can take one away, blank it or change its word.
 */
export function exampleRow(layout: Layout): ExampleRow {
  const header = headerOf(layout);
  const cells = header.map((name) => cellOf(layout, name));
  const source = {
    timeZone: layout.lacks.includes('time_zone') ? 'Europe/Amsterdam' : null,
    currency: layout.lacks.includes('currency') ? 'EUR' : null,
  };
  return toExample(layout, { header, cells, source });
}

function toExample(layout: Layout, parts: Pick<ExampleRow, 'header' | 'cells' | 'source'>): ExampleRow {
  const { header, cells } = parts;
  const placeOf = (column: string): number => {
    const place = header.findIndex((name) => foldHeader(name) === foldHeader(column));
    if (place === -1) throw new Error(`the example of ${layout.name} has no column "${column}"`);
    return place;
  };
  return {
    ...parts,
    with: (column, cell) => toExample(layout, { ...parts, cells: cells.with(placeOf(column), cell) }),
    without(column) {
      const place = placeOf(column);
      return toExample(layout, {
        ...parts,
        header: header.toSpliced(place, 1),
        cells: cells.toSpliced(place, 1),
      });
    },
    plus: (column, cell) =>
      toExample(layout, { ...parts, header: [...header, column], cells: [...cells, cell] }),
    text: () => [header, cells].map((row) => `${writeRow(row, layout)}\n`).join(''),
  };
}

function writeRow(cells: readonly string[], { delimiter, quote }: Layout): string {
  const separator = delimiter === 'auto' ? ',' : delimiter;
  const isPlain = (cell: string): boolean => quote === null || !/[",;|\t\n]/.test(cell);
  return cells.map((cell) => (isPlain(cell) ? cell : `"${cell.replaceAll('"', '""')}"`)).join(separator);
}

/** One column for each list of spellings. The columns of a signature, of sums and of lists of fields come first. */
function headerOf(layout: Layout): readonly string[] {
  const made = new Set(layout.conditionalColumns.map(({ name }) => foldHeader(name)));
  const header: string[] = [];
  const add = (spellings: readonly string[]): void => {
    const written = spellings.filter((name) => !made.has(foldHeader(name)));
    const names = new Set(header.map(foldHeader));
    const [first] = written;
    if (first !== undefined && !written.some((name) => names.has(foldHeader(name)))) header.push(first);
  };
  const { sum, addsNothing } = layout.grouping;
  for (const name of layout.signature[0] ?? []) add([name]);
  for (const rule of Object.values(sum)) for (const name of [...rule.plus, ...rule.minus]) add([name]);
  for (const spellings of Object.values(layout.columns)) add(spellings);
  for (const { columns, when } of layout.conditionalColumns)
    for (const list of [columns, when.columns]) add(list);
  for (const { columns } of [...layout.exclusions, ...addsNothing]) add(columns);
  for (const { before, after } of layout.leftAfterRefund) for (const list of [before, after]) add(list);
  for (const list of [layout.refundedOf, layout.timeOfDay, layout.times.zoneColumn]) add(list);
  const known = new Set(listSpellings(layout).map(foldHeader));
  return header.filter((name) => known.has(foldHeader(name)) || layout.signature[0]?.includes(name));
}

function cellOf(layout: Layout, column: string): string {
  const isOf = (spellings: readonly string[] = []): boolean =>
    spellings.some((name) => foldHeader(name) === foldHeader(column));
  const stated = BY_COLUMN[layout.name]?.[column];
  if (stated !== undefined) return stated;
  const { sum } = layout.grouping;
  const amount = (text: string): string => text.replace('.', layout.money.decimal);
  const [format = 'iso'] = layout.times.formats;
  const time = TIMES[format];
  if (time === undefined) throw new Error(`TIMES has no example of ${format}`);
  if (Object.values(sum).some(({ plus }) => isOf(plus.slice(0, 1)))) return amount(EXAMPLE_REVENUE);
  if (Object.values(sum).some(({ plus, minus }) => isOf([...plus, ...minus]))) return amount('0.00');
  if (isOf(layout.columns.status)) return layout.status.credited?.[0] ?? '';
  if (isOf([...(layout.columns.total ?? []), ...(layout.columns.subtotal ?? []), ...layout.refundedOf]))
    return amount(EXAMPLE_REVENUE);
  if (isOf([...(layout.columns.placed_at ?? []), ...(layout.columns.paid_at ?? [])])) {
    if (!isOf(layout.columns.placed_at) || layout.timeOfDay.length === 0) return time;
    return time.slice(0, time.search(/ \d+:/) === -1 ? undefined : time.search(/ \d+:/));
  }
  if (isOf(layout.timeOfDay)) return time.slice(time.search(/\d+:/));
  if (isOf(layout.times.zoneColumn)) return 'UTC';
  const ruled = layout.exclusions.find(({ columns }) => isOf(columns));
  if (ruled !== undefined && !isOf(layout.columns.order_name)) return allowedBy(ruled);
  for (const [field, spellings] of Object.entries(layout.columns)) {
    if (!isOf(spellings)) continue;
    const cell = BY_FIELD[field as LayoutField] ?? '';
    return field === 'refunded' ? amount(cell) : cell;
  }
  return '';
}

/** A cell that a test of exclusion lets pass. */
function allowedBy({ noneOf, unless }: ExclusionRule): string {
  return (unless ?? noneOf)?.[0] ?? '';
}
