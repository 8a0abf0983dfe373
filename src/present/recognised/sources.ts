import { describeConsent } from '../../model/customer.ts';
import { formatAmounts, formatMoney } from '../../model/money.ts';
import { formatInstant } from '../../model/text/format-instant.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import { toPrintableLine } from '../../model/text/printable.ts';
import type { CustomersExamined } from '../../pipeline/recognise/examine-customers.ts';
import type { OrdersExamined } from '../../pipeline/recognise/examine-orders.ts';
import type { OrdersPreview } from '../../pipeline/recognise/preview-orders.ts';
import type { ProposedLayout } from '../../pipeline/recognise/propose-layout.ts';
import type { Recognised, RecognisedSource } from '../../pipeline/recognise/recognise.ts';
import { listPassedOver } from '../read-files.ts';
import { renderTable } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { formatCount, plural } from '../text.ts';

const CODES_SHOWN = 10;
const WORDS_SHOWN = 12;
const REFUSED_SHOWN = 20;

/** Renders what was recognised in one source, for a person to confirm. */
export function renderSource(source: RecognisedSource, terminal: Terminal): string {
  const { name, examined, files, proof, proposed, compressed, encoding } = source;
  const how = [compressed ? 'compressed' : '', encoding ?? ''].filter((part) => part !== '');
  const what =
    proposed === null
      ? `${examined.layout.title}, known by ${proof.map((column) => `"${toPrintableLine(column)}"`).join(', ')}`
      : 'an export of your own; the layout below is proposed from names and values of its columns';
  const lines = [
    '',
    `${terminal.style('bold', name)}: ${plural(files.length, 'file')}${how.length === 0 ? '' : ` (${how.join(', ')})`}, ${what}.`,
    ...(proposed === null
      ? []
      : [
          '',
          ...indent(maskAddresses(proposed.text.trimEnd()).split('\n')),
          ...columnLines(proposed, terminal),
          ...proposed.assumed.map(
            ({ header, why }) =>
              `  ${terminal.style('yellow', '!')} "${shorten(header)}" is read as a refusal: ${why}. If it means something else:  --column "${shorten(header)}=unused"`,
          ),
        ]),
  ];
  switch (examined.kind) {
    case 'orders':
      return [...lines, ...ordersLines(examined, terminal)].join('\n');
    case 'customers':
      return [...lines, ...customersLines(examined)].join('\n');
    case 'clicks':
    case 'creators':
      return [...lines, `  ${plural(examined.rows, 'row')} of ${examined.kind} seen.`].join('\n');
  }
}

/** What was decided about each column of an unknown file. */
function columnLines({ columns }: ProposedLayout, terminal: Terminal): readonly string[] {
  if (columns.length === 0) return [];
  const table = renderTable(
    [{ title: 'Column' }, { title: 'Used as' }, { title: 'Why' }, { title: 'For example' }],
    columns.map(({ header, role, why, samples }) => [
      shorten(header),
      role ?? 'not used',
      why,
      samples.map(shorten).join(', '),
    ]),
    { terminal, indent: '  ' },
  );
  return ['', table, ''];
}

/** Lines about the files of a source of orders. */
export function ordersLines(
  { layout, preview, changes, problems, currency, needsZone, dateOrder, decimalMark }: OrdersExamined,
  terminal: Terminal,
): readonly string[] {
  const { rows, orders, isPartial, credited, creditedWithCode, placed } = preview;
  const reading = dateOrder === 'open' ? ', if the month is first' : '';
  const days =
    placed === null ? '' : `, ${placed.first.slice(0, 10)} to ${placed.last.slice(0, 10)}${reading}`;
  const placedTitle = needsZone ? `Placed (as written${reading})` : `Placed (UTC${reading})`;
  const open = [
    ...(needsZone ? ['their time zone'] : []),
    ...(currency === null ? [] : ['their currency']),
    ...(dateOrder === 'open' ? ['whether day or month comes first'] : []),
    ...(decimalMark === 'open'
      ? [`which mark is before the decimals (shown as if it is "${layout.money.decimal}")`]
      : []),
  ];
  return [
    `  ${plural(orders, 'order')} in ${isPartial ? 'the first ' : ''}${plural(rows, 'row')}${days}: ${formatCount(credited)} to be credited, ${formatCount(creditedWithCode)} of them with a code, link or influencer.`,
    ...(open.length === 0 ? [] : [`  The files do not say ${open.join(' and ')}.`]),
    ...changes.map(({ why }) => `  The layout is changed for these files: ${why}.`),
    ...(dateOrder === 'mixed'
      ? ['  Some dates have the day first and some the month: export the files again.']
      : []),
    ...[...problems, ...preview.held].map(
      (problem) => `  ${terminal.style('yellow', '!')} ${toPrintableLine(problem)}`,
    ),
    ...statusLines(preview),
    ...(preview.fallbackId === null
      ? []
      : [`  The ids of orders are blank, so "${toPrintableLine(preview.fallbackId)}" identifies them.`]),
    ...(preview.zeroRevenue === 0
      ? []
      : [
          `  ${plural(preview.zeroRevenue, 'order')} to be credited ${preview.zeroRevenue === 1 ? 'has' : 'have'} no revenue.`,
        ]),
    ...rejectedLines(preview),
    ...codeLines(preview, terminal),
    ...sampleLines(preview, placedTitle, terminal),
  ];
}

function statusLines({ statuses, excluded }: OrdersPreview): readonly string[] {
  const name = ({ status, orders }: OrdersPreview['statuses'][number]): string =>
    `${status === '' ? 'without a status' : shorten(status)} (${formatCount(orders)})`;
  const counted = statuses.filter(({ isCredited }) => isCredited).slice(0, WORDS_SHOWN);
  const others = statuses.filter(({ isCredited }) => !isCredited).slice(0, WORDS_SHOWN);
  return [
    ...(counted.length === 0 ? [] : [`  Credited states: ${counted.map(name).join(', ')}.`]),
    ...(others.length === 0 ? [] : [`  Not credited: ${others.map(name).join(', ')}.`]),
    ...(excluded.length === 0
      ? []
      : [
          `  Never posted: ${excluded.map(({ reason, orders }) => `${reason} (${formatCount(orders)})`).join(', ')}.`,
        ]),
  ];
}

function rejectedLines({ rejected }: OrdersPreview): readonly string[] {
  return rejected
    .slice(0, 5)
    .map(
      ({ rows, line, column, reason }) =>
        `  ${plural(rows, 'row')} cannot be used, the first on line ${line}${column === null ? '' : `, column "${shorten(column)}"`}: ${reason}`,
    );
}

function codeLines({ codes, credited }: OrdersPreview, terminal: Terminal): readonly string[] {
  if (codes.length === 0)
    return credited === 0
      ? []
      : ['  No order has a discount code, so only links and influencers in it can credit it.'];
  const table = renderTable(
    [{ title: 'Code' }, { title: 'Orders', align: 'right' }, { title: 'Revenue', align: 'right' }],
    codes
      .slice(0, CODES_SHOWN)
      .map(({ code, orders, revenue }) => [maskAddresses(code), formatCount(orders), formatAmounts(revenue)]),
    { terminal, indent: '  ' },
  );
  const more = codes.length - CODES_SHOWN;
  return ['', table, ...(more > 0 ? [`  … and ${plural(more, 'more code')}.`] : [])];
}

function sampleLines({ sample }: OrdersPreview, placedTitle: string, terminal: Terminal): readonly string[] {
  if (sample.length === 0) return [];
  const table = renderTable(
    [{ title: 'Order' }, { title: placedTitle }, { title: 'Revenue', align: 'right' }, { title: 'Codes' }],
    sample.map(({ orderId, placedAt, total, currency, codes }) => [
      maskAddresses(orderId),
      placedAt === null ? '' : formatInstant(placedAt),
      total === null ? '' : formatMoney(total, currency),
      maskAddresses(codes.join(', ')),
    ]),
    { terminal, indent: '  ' },
  );
  return ['', '  The orders as they would be posted, once their codes have an owner:', table];
}

/** Lines about the files of a source of customers. */
export function customersLines({
  rows,
  submitted,
  passedOver,
  rejected,
  consent,
  isPartial,
  needsConsent,
  held,
}: CustomersExamined): readonly string[] {
  const skipped = listPassedOver(passedOver);
  return [
    `  ${plural(rows, 'row')}${isPartial ? ' looked at' : ''}: ${plural(submitted, 'customer')} to be submitted${rejected === 0 ? '' : `, ${plural(rejected, 'row')} cannot be used`}.`,
    ...(skipped.length === 0 ? [] : [`  Rows not submitted, by reason: ${skipped.join(', ')}.`]),
    `  Consent: ${needsConsent ? 'the export does not say' : toPrintableLine(describeConsent(consent))}.`,
    ...held.map((reason) => `  ! ${toPrintableLine(reason)}`),
  ];
}

/** Renders files that are not exports, each with the reason. */
export function renderRefused({ refused, skipped }: Recognised, terminal: Terminal): string {
  const lines = refused
    .slice(0, REFUSED_SHOWN)
    .map(
      ({ name, why }) =>
        `  ${terminal.style('yellow', '–')} ${toPrintableLine(maskAddresses(name))}: ${toPrintableLine(why)}`,
    );
  const more = refused.length - REFUSED_SHOWN;
  return [
    ...(refused.length === 0 ? [] : ['', terminal.style('bold', 'Not read:'), ...lines]),
    ...(more > 0 ? [`  … and ${plural(more, 'more file')}.`] : []),
    ...(skipped === 0
      ? []
      : [`\n${plural(skipped, 'file')} skipped: hidden files, and files that tools leave behind.`]),
  ].join('\n');
}

/** Renders what happens to the files to write. */
export function renderFates(
  fates: readonly { readonly path: string; readonly state: string; readonly diff?: string }[],
  folder: string,
  terminal: Terminal,
): string {
  const words: Readonly<Record<string, string>> = {
    new: 'new',
    same: 'already exists, unchanged',
    differs: 'already exists and is kept; these lines would change:',
  };
  return [
    '',
    terminal.style('bold', `Files in ${folder}:`),
    ...fates.flatMap(({ path, state, diff }) => [
      `  ${path}: ${words[state] ?? state}`,
      ...(diff === undefined ? [] : indent(diff.trimEnd().split('\n').slice(2))),
    ]),
  ].join('\n');
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}

const MAX_CHARS = 60;

function shorten(text: string): string {
  const shown = maskAddresses(toPrintableLine(text));
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS - 1)}…` : shown;
}
