import type { LayoutField, MoneyFormat } from '../../../core/layout.ts';
import { plural } from '../../../core/text/plural.ts';
import { toPrintableJson } from '../../../core/text/printable.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import type { Assignment } from './assign-columns.ts';
import type { MeasuredColumn } from './column-shapes.ts';
import type { StatusWords } from './known-status-words.ts';
import { Cells, codeSeparatorsOf, MONEY_FORMATS, moneyFormatOf, timesOfColumns } from './measure-values.ts';

/** What was found out about a file that no layout knows. */
export type ProposedParts = {
  readonly columns: readonly MeasuredColumn[];
  readonly chosen: ReadonlyMap<LayoutField, MeasuredColumn>;
  readonly words: StatusWords;
  readonly title: string;
  readonly name: string;
};

/**
 * Quotes text from a file for YAML. JSON is valid YAML, and it escapes characters that a terminal or an
 * editor would interpret.
 */
export function quote(text: string): string {
  return toPrintableJson(JSON.stringify(text));
}

export function list(texts: readonly string[]): string {
  return `[${texts.map(quote).join(', ')}]`;
}

/** The first lines of every proposed layout. */
export const HEAD = `# Proposed by \`influencer-sync init\` from the names and values of the columns. Check each line against the export, then delete this comment.
# docs/layouts.md explains every key.`;

/** Generates a layout of orders, with comments for the person who checks it. */
export function ordersText({
  chosen,
  words,
  title,
  stops,
  timeOfDay,
  decisions,
  isBelowTitle,
}: ProposedParts & Assignment & { readonly isBelowTitle: boolean }): string {
  const moneyCells = merge(
    (['total', 'subtotal', 'refunded'] as const).flatMap((field) => chosen.get(field)?.cells ?? []),
  );
  const money = moneyFormatOf(moneyCells) ?? (MONEY_FORMATS[0] as MoneyFormat);
  const times = timesOfColumns(
    (['placed_at', 'paid_at', 'cancelled_at'] as const).flatMap((field) =>
      field === 'placed_at' && timeOfDay !== null ? timeOfDay.joined : (chosen.get(field)?.cells ?? []),
    ),
  );
  const status = chosen.get('status');
  const codes = chosen.get('codes');
  const id = chosen.get('order_id');
  const isGrouped = id !== undefined && id.cells.counts.size < id.cells.filled;
  const lacks = [
    ...(chosen.has('currency') ? [] : ['currency']),
    ...(times.needsZone ? ['time_zone'] : []),
    ...(status === undefined ? ['status'] : []),
    ...(codes === undefined ? ['codes'] : []),
    'consent',
  ];
  const split = codes === undefined ? [] : codeSeparatorsOf(codes.cells, []);
  const required = [
    'order_id',
    ...(status === undefined ? [] : ['status']),
    'total',
    ...(codes === undefined ? [] : ['codes']),
    ...(chosen.has('placed_at') ? ['placed_at'] : []),
  ];
  const fields: readonly LayoutField[] = [
    'order_id',
    'status',
    'currency',
    'total',
    'subtotal',
    'refunded',
    'codes',
    'influencer_handle',
    'links',
    'notes',
    'placed_at',
    'paid_at',
    'cancelled_at',
    'email',
  ];
  const unread = decisions.filter(({ role }) => role === null);
  return [
    HEAD,
    `title: ${quote(title)}`,
    ...(isBelowTitle ? ['preamble_lines: search     # there are lines above the header'] : []),
    `lacks: ${list(lacks)}`,
    'columns:',
    ...fields.flatMap((field) => {
      const column = chosen.get(field);
      return column === undefined ? [] : [`  ${field}: ${list([column.header])}${noteOf(field, column)}`];
    }),
    `required: ${list(required)}`,
    `signature: [${list(signatureOf(chosen, ['order_id', 'total', 'codes', 'placed_at']))}]     # no other export may have all of these`,
    ...(isGrouped
      ? [
          'grouping: { line_items: true }      # several rows have the same id; check that the total belongs to the order',
        ]
      : []),
    `money: { decimal: ${quote(money.decimal)}, thousands: ${money.thousands === null ? 'null' : quote(money.thousands)}, symbols: true }`,
    ...(times.formats === null || times.formats.length === 0 ? [] : [`times: ${list(times.formats)}`]),
    ...(split.length === 0 ? [] : [`codes: { split: ${list(split)} }`]),
    ...(timeOfDay === null ? [] : [`time_of_day: ${list([timeOfDay.column.header])}`]),
    ...(status === undefined ? [] : statusText(status, words)),
    ...exclusionsText({ chosen, stops, words }),
    ...(unread.length === 0
      ? ['# Every column is read.']
      : ['# Not read:', ...unread.map(({ header, why }) => `# - ${quote(header)}: ${why}`)]),
    '',
  ].join('\n');
}

function statusText(status: MeasuredColumn, words: StatusWords): readonly string[] {
  const found = [...status.cells.counts.keys()].filter((word) => !word.includes('@')).slice(0, 50);
  const canonical = (word: string): string => words.translations.get(foldWord(word)) ?? foldWord(word);
  const credited = found.filter((word) => words.credited.has(canonical(word)));
  const others = found.filter((word) => !credited.includes(word));
  return [
    'status:',
    `  credited: ${list(credited.length === 0 ? ['paid'] : credited.map(foldWord))}     # ${credited.length === 0 ? 'none of the words is known: list those that count' : 'orders in these states count'}`,
    ...(others.length === 0
      ? []
      : [`  known: ${list(others.map(foldWord))}     # these orders are not credited`]),
  ];
}

/** Orders that are never posted: cancelled ones, and those that a column stops. */
function exclusionsText({
  chosen,
  stops,
  words,
}: Pick<Assignment, 'chosen' | 'stops'> & { readonly words: StatusWords }): readonly string[] {
  const status = chosen.get('status');
  const cancelledAt = chosen.get('cancelled_at');
  const cancelled = [...(status?.cells.counts.keys() ?? [])].filter((word) =>
    /^cancell?ed$/.test(words.translations.get(foldWord(word)) ?? foldWord(word)),
  );
  const rules = [
    ...(status === undefined || cancelled.length === 0
      ? []
      : [`{ reason: cancelled, columns: ${list([status.header])}, equals: ${list(cancelled)} }`]),
    ...(cancelledAt === undefined
      ? []
      : [`{ reason: cancelled, columns: ${list([cancelledAt.header])}, not_blank: true }`]),
    ...stops.map(
      ({ column, reason, test }) =>
        `{ reason: ${reason}, columns: ${list([column.header])}, ${Object.entries(test)
          .map(([key, value]) => `${key}: ${value === true ? 'true' : list(value)}`)
          .join()} }`,
    ),
  ];
  return rules.length === 0 ? [] : ['exclusions:', ...rules.map((rule) => `  - ${rule}`)];
}

function noteOf(field: LayoutField, { cells }: MeasuredColumn): string {
  if (field === 'order_id')
    return `     # ${cells.counts.size === cells.filled ? 'different on each row that was looked at' : 'the same on several rows: line items'}`;
  if (field === 'codes') return `     # filled on ${cells.filled} of ${plural(cells.rows, 'row')}`;
  return '';
}

function signatureOf(
  chosen: ReadonlyMap<LayoutField, MeasuredColumn>,
  fields: readonly LayoutField[],
): readonly string[] {
  return fields.flatMap((field) => chosen.get(field)?.header ?? []).slice(0, 3);
}

/** Combines the different cells of several columns. Each different cell of a column is counted once. */
function merge(columns: readonly Cells[]): Cells {
  const all = new Cells();
  for (const { counts } of columns) for (const cell of counts.keys()) all.add(cell);
  return all;
}
