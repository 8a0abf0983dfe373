import { parse } from 'yaml';
import {
  COLUMN_ROLES,
  type ColumnRole,
  CUSTOMER_ROLES,
  type StatedRoles,
} from '../../../core/column-role.ts';
import type { Layout, LayoutField } from '../../../core/layout.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { layoutSchema } from '../../../intake/layout/layout-schema.ts';
import { toLayout } from '../../../intake/layout/to-layout.ts';
import { cleanText } from '../../../intake/values/clean-text.ts';
import { amountNameOf, otherReportOf } from './amount-names.ts';
import { assignColumns, type ColumnDecision, type UnclearColumn } from './assign-columns.ts';
import { describeColumn, isMoneyWithDecimals, type MeasuredColumn } from './column-shapes.ts';
import { type NameScorer, nameScorer } from './column-synonyms.ts';
import { statusWordsOf } from './known-status-words.ts';
import { Cells } from './measure-values.ts';
import { proposeCustomers } from './propose-customers.ts';
import { ordersText } from './proposed-text.ts';

/** A layout for a header that no layout knows, as a file that a person must check. */
export type ProposedLayout = {
  readonly layout: Layout;
  /** Content of `layouts/<name>.yaml`, with comments. */
  readonly text: string;
  /** One for each column that has a name. */
  readonly columns: readonly ColumnDecision[];
  /** Columns that are read as a no unless a person says otherwise. */
  readonly assumed: readonly UnclearColumn[];
};

/** Why no layout can be proposed for a header, and the columns about which a person may say more. */
export type NoLayout = {
  readonly code: 'unknown_header' | 'not_orders' | 'item_rows' | 'unclear_columns';
  readonly why: string;
  readonly unclear: readonly UnclearColumn[];
};

const NAMES_SOMEBODY: readonly LayoutField[] = ['codes', 'links', 'notes', 'influencer_handle'];
const ORDER_ROLES = COLUMN_ROLES.filter((role) => role !== 'consent');
/** Score of a name that says "order". Customers have ids too. */
const SAYS_ORDER = 0.7;

/**
 * Maps a header by the names of its columns and the shape of their values. If either does not fit, leaves the
 * field without a column instead of guessing.
 */
export function proposeLayout(
  { header, records }: { readonly header: readonly string[]; readonly records: readonly CsvRecord[] },
  {
    name,
    title,
    layouts,
    isBelowTitle = false,
    stated = new Map(),
  }: {
    readonly name: string;
    readonly title: string;
    readonly layouts: readonly Layout[];
    /** Whether there are lines above the header. */
    readonly isBelowTitle?: boolean;
    readonly stated?: StatedRoles;
  },
): ProposedLayout | NoLayout {
  const columns = header.map((text, index): MeasuredColumn => {
    const cells = new Cells();
    for (const record of records) cells.add(record.cells[index] ?? '');
    return { header: text.trim(), index, cells };
  });
  const words = statusWordsOf(layouts);
  const score = nameScorer(layouts);
  const assigned = assignColumns(columns, { records, words, score, stated });
  const { chosen, unclear } = assigned;
  const has = (field: LayoutField): boolean => chosen.has(field);
  const id = chosen.get('order_id');
  const total = chosen.get('total');
  const money = total ?? findPayments(columns, score);
  const saysOrder = id !== undefined && score(id.header, 'order_id') >= SAYS_ORDER;
  const other = money === undefined && !saysOrder ? null : otherReportOf(header);
  if (other !== null) return refusal('not_orders', `It looks like ${other}. No orders are read from it.`);
  if (id !== undefined && total !== undefined) {
    const misused = rolesOutside(ORDER_ROLES, 'orders', { columns, stated });
    if (misused !== null) return misused;
    if (!NAMES_SOMEBODY.some(has))
      return refusal(
        'unknown_header',
        'It looks like orders or payments, but no column holds discount codes, links or influencers, so no order could be credited.',
      );
    const items = itemRows(records, { id, total, columns, stated });
    if (items !== null) return items;
    if (unclear.length > 0) return whatIsUnclear(unclear, 'orders');
    const text = ordersText({ ...assigned, columns, words, title, name, isBelowTitle });
    return { ...complete(name, text), columns: assigned.decisions, assumed: [] };
  }
  if (saysOrder) return withoutTotal(columns, id);
  if (money !== undefined)
    return refusal(
      'unknown_header',
      `It has amounts (column ${JSON.stringify(money.header)}), but no column has the name and the values of ${total === undefined ? 'totals or order ids' : 'order ids'}.`,
    );
  const email = chosen.get('email');
  if (email !== undefined) {
    const misused = rolesOutside(CUSTOMER_ROLES, 'customers', { columns, stated });
    if (misused !== null) return misused;
    const { text, ...decided } = proposeCustomers(columns, { email, title, stated });
    return { ...complete(name, text), ...decided };
  }
  return refusal(
    'unknown_header',
    'Judging by the names and values of its columns, it has neither order ids with amounts nor e-mail addresses.',
  );
}

function refusal(code: NoLayout['code'], why: string): NoLayout {
  return { code, why, unclear: [] };
}

/** Asks again about columns with a stated role that has no effect for what the file lists. */
function rolesOutside(
  roles: readonly ColumnRole[],
  what: string,
  { columns, stated }: { readonly columns: readonly MeasuredColumn[]; readonly stated: StatedRoles },
): NoLayout | null {
  const unclear = columns.flatMap((column): UnclearColumn[] => {
    const role = stated.get(foldHeader(column.header));
    if (role === undefined || roles.includes(role)) return [];
    const why = `the role ${role} has no effect in a file of ${what}`;
    return [{ ...describeColumn(column), why, likely: 'unused', isOfCustomers: what === 'customers' }];
  });
  return unclear.length === 0 ? null : whatIsUnclear(unclear, what);
}

function whatIsUnclear(unclear: readonly UnclearColumn[], what: string): NoLayout {
  const listed = unclear.map(
    ({ header, why, samples }) =>
      `${JSON.stringify(header)}: ${why}${samples.length === 0 ? '' : ` (${samples.join(', ')})`}`,
  );
  return {
    code: 'unclear_columns',
    why: `It has ${what}, but ${unclear.length === 1 ? 'a column' : `${unclear.length} columns`} that may change what is ${what === 'orders' ? 'credited' : 'submitted'} cannot be understood. ${listed.join('. ')}.`,
    unclear,
  };
}

/** Orders without a column that is named like a total. Their other amounts are listed, and none is taken. */
function withoutTotal(columns: readonly MeasuredColumn[], id: MeasuredColumn): NoLayout {
  const ids = `It has order ids (column ${JSON.stringify(id.header)}), but no amounts`;
  const amounts = columns.filter(({ header, cells }) => header !== '' && isMoneyWithDecimals(cells));
  if (amounts.length === 0) return refusal('unknown_header', `${ids}.`);
  const listed = amounts.map(({ header }) => {
    const amount = amountNameOf(header);
    return `${JSON.stringify(header)}: ${amount?.field === null ? amount.why : NO_TOTAL}`;
  });
  return {
    code: 'unclear_columns',
    why: `${ids} named like the total of an order. ${listed.join('. ')}.`,
    unclear: amounts
      .filter(({ header }) => amountNameOf(header) === null)
      .map(({ header, cells }) => ({
        header,
        why: NO_TOTAL,
        samples: [...cells.counts.keys()].slice(0, 3),
        likely: 'unused' as const,
      })),
  };
}

const NO_TOTAL = 'its name does not say that it is the total';

/**
 * Checks rows that share an order id. The total belongs to the order if later rows leave it blank, or repeat it
 * while another amount differs from row to row. It belongs to the item if it differs within an order: to add
 * items up, a person must know which amounts are part of them.
 *
 * @returns why the rows are not read as orders; null if they are orders.
 */
function itemRows(
  records: readonly CsvRecord[],
  {
    id,
    total,
    columns,
    stated,
  }: {
    readonly id: MeasuredColumn;
    readonly total: MeasuredColumn;
    readonly columns: readonly MeasuredColumn[];
    readonly stated: StatedRoles;
  },
): NoLayout | null {
  const orders = Map.groupBy(records, ({ cells }) => cleanText(cells[id.index] ?? ''));
  const values = (rows: readonly CsvRecord[], { index }: MeasuredColumn): readonly string[] =>
    rows.map(({ cells }) => cleanText(cells[index] ?? '')).filter((cell) => cell !== '');
  const isAmount = columns.filter(({ cells }) => cells.share((cell) => /\d[.,]\d/.test(cell)) > 0);
  let repeated = 0;
  let proven = 0;
  for (const [order, rows] of orders) {
    const totals = values(rows, total);
    if (order === '' || totals.length < 2) continue;
    repeated += 1;
    if (new Set(totals).size > 1)
      return refusal(
        'item_rows',
        `Several rows have the same order id (column ${JSON.stringify(id.header)}) and different amounts in ${JSON.stringify(total.header)} (lines ${rows[0]?.line} and ${rows[1]?.line}), so its rows are items, payments or refunds of an order. Which of them add up to an order's total is not guessed: write a layout with grouping.sum (docs/layouts.md).`,
      );
    if (isAmount.some((column) => column !== total && new Set(values(rows, column)).size > 1)) proven += 1;
  }
  if (repeated === 0 || proven > 0 || stated.get(foldHeader(total.header)) === 'total') return null;
  return {
    code: 'unclear_columns',
    why: `Several rows have the same order id (column ${JSON.stringify(id.header)}) and the same amount in ${JSON.stringify(total.header)}. It may be the total of the order, or that of each row.`,
    unclear: [
      {
        header: total.header,
        why: 'say "total" if it is the total of the whole order, repeated on its rows; if it belongs to each row, write a layout with grouping.sum',
        samples: [...total.cells.counts.keys()].slice(0, 3),
        likely: 'total',
      },
    ],
  };
}

/**
 * Finds the amounts of payments in a file whose names are unknown: money beside a column of currencies. A
 * list of customers may have one of them, or the total that each customer has spent.
 */
function findPayments(columns: readonly MeasuredColumn[], score: NameScorer): MeasuredColumn | undefined {
  const known = new Set(Intl.supportedValuesOf('currency'));
  const hasCurrencies = columns.some(
    ({ cells }) => cells.filled > 0 && cells.share((cell) => known.has(cell)) === 1,
  );
  if (!hasCurrencies) return undefined;
  return columns.find(({ header, cells }) => isMoneyWithDecimals(cells) && score(header, 'spent') === 0);
}

function complete(name: string, text: string): Pick<ProposedLayout, 'layout' | 'text'> {
  return { layout: toLayout(name, layoutSchema.parse(parse(text))), text };
}
