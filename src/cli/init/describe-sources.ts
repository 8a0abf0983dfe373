import { describeConsent } from '../../core/customer.ts';
import { BELOW_ZERO, heldReason, REFUNDS_APART } from '../../core/held/held-order.ts';
import { countUnknown, formatAmounts, formatAtLeast, formatMoney } from '../../core/money.ts';
import { sumOrders } from '../../core/order.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { inShellQuotes, toPrintableLine } from '../../core/text/printable.ts';
import { joinLines, type Lines } from '../../core/text/wrap.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatCount, plural } from '../../render/text.ts';
import { listPassedOver, sayFooterRow } from '../../reports/files/read-files.ts';
import { describeReason } from '../../reports/held/describe-held-orders.ts';
import { type FileFate, layoutFileOf } from './compose-files.ts';
import type { CustomersExamined } from './recognise/examine-customers.ts';
import type { OrdersExamined } from './recognise/examine-orders.ts';
import { isOfNames } from './recognise/group-sources.ts';
import type { OrdersPreview } from './recognise/preview-orders.ts';
import type { ProposedLayout } from './recognise/proposed-layout.ts';
import type { Recognised, RecognisedSource } from './recognise/recognise.ts';

const CODES_SHOWN = 10;
const WORDS_SHOWN = 12;
/** As many states as a column of them has at most. */
const MAX_STATES_SHOWN = 30;
const REFUSED_SHOWN = 20;
const NAMES_SHOWN = 5;

/**
 * Renders what was recognised in one source, for a person to confirm.
 *
 * @param shownAt the source that has shown the same proposed layout before. Null if none has.
 */
export function renderSource(source: RecognisedSource, terminal: Terminal, shownAt: string | null): string {
  const { name, examined, files, proof, proposed, compressed, encoding } = source;
  const how = [compressed ? 'compressed' : '', encoding ?? ''].filter((part) => part !== '');
  const what =
    proposed === null
      ? `${examined.layout.title}, known by ${proof.map((column) => `"${toPrintableLine(column)}"`).join(', ')}`
      : shownAt === null
        ? 'an export of your own; the layout below is proposed from names and values of its columns'
        : `an export of your own with the layout of ${shownAt}`;
  return joinLines(
    '',
    `${terminal.style('bold', name)}: ${plural(files.length, 'file')}${how.length === 0 ? '' : ` (${how.join(', ')})`}, ${what}.`,
    proposed !== null &&
      shownAt === null && [
        '',
        layoutFileOf(source).map(({ text }) => indent(maskAddresses(text.trimEnd()).split('\n'))),
        columnLines(proposed, terminal),
        [...proposed.unknownStates].map(
          ([column, words]) =>
            `  ${terminal.style('yellow', '!')} No list knows ${words.map((word) => `"${shorten(word)}"`).join(', ')} of "${shorten(column)}", so these orders are held. ${sayPaid(column, words)}`,
        ),
        proposed.assumed.map(
          ({ header, why }) =>
            `  ${terminal.style('yellow', '!')} "${shorten(header)}" is read as a refusal: ${why}. If it means something else:  --column ${inShellQuotes(`${shorten(header)}=unused`)}`,
        ),
      ],
    isOfNames(source.path) &&
      `  ${terminal.style('yellow', '!')} No pattern separates these files from others in their folder, so only files with these names are read, and the next export is not. Put them into a folder of their own.`,
    examined.kind === 'orders'
      ? ordersLines(examined, terminal)
      : examined.kind === 'customers'
        ? customersLines(examined)
        : `  ${plural(examined.rows, 'row')} of ${examined.kind} seen.`,
  );
}

/** What was decided about each column of an unknown file. */
function columnLines({ columns }: ProposedLayout, terminal: Terminal): Lines {
  if (columns.length === 0) return null;
  const table = renderTable(
    [
      { title: 'Column', cutAt: 'never' },
      { title: 'Used as' },
      { title: 'Why', cutAt: 'never' },
      { title: 'For example' },
    ],
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
export function ordersLines(examined: OrdersExamined, terminal: Terminal): string {
  const { layout, preview, changes, problems, currency, needsZone, dateOrder, decimalMark, stated } =
    examined;
  const { rows, orders, isPartial, placed, fallbackId } = preview;
  const isAdapted = examined.previewed === 'adapted';
  const reading = dateOrder === 'open' ? ', if the month is first' : '';
  const days =
    placed === null ? '' : `, ${placed.first.slice(0, 10)} to ${placed.last.slice(0, 10)}${reading}`;
  const isZoneOpen = needsZone && stated.timeZone === null;
  const open = [
    isZoneOpen && 'their time zone',
    currency !== null &&
      stated.currency === null &&
      (currency.candidates.length === 0
        ? 'their currency'
        : currency.candidates.length > 1 && `which of ${currency.candidates.join(', ')} is their currency`),
    dateOrder === 'open' && 'whether day or month comes first',
    decimalMark === 'open' &&
      `which mark is before the decimals${isAdapted ? ` (shown as if it is "${layout.money.decimal}")` : ''}`,
  ].filter((what) => what !== false);
  return joinLines(
    rows === 0 && preview.held.length > 0
      ? '  Every file would be held; its rows were not read.'
      : `  ${plural(orders, 'order')} in ${isPartial ? 'the first ' : ''}${plural(rows, 'row')}${days}.`,
    open.length > 0 && `  The files do not say ${open.join(' and ')}.`,
    changes.map(
      ({ why }) => `  The layout ${isAdapted ? 'is changed for' : 'does not fit'} these files: ${why}.`,
    ),
    dateOrder === 'mixed' && '  Some dates have the day first and some the month: export the files again.',
    examined.missing.size > 0 &&
      preview.held.length > 0 &&
      `  If these exports never have ${examined.missing.size === 1 ? 'this column' : 'these columns'}, and every order counts in full, say why:  --missing-columns "…"`,
    [...new Set([...problems, ...preview.held])].map(
      (problem) => `  ${terminal.style('yellow', '!')} ${toPrintableLine(problem)}`,
    ),
    outcomeLines(preview),
    fallbackId !== null &&
      `  The ids of orders are blank, so "${toPrintableLine(fallbackId)}" identifies them.`,
    preview.footer.slice(0, 5).map((row) => `  Not an order: ${sayFooterRow(row)}. It is not counted.`),
    preview.rejected
      .slice(0, 5)
      .map(
        ({ rows, line, column, reason }) =>
          `  ${plural(rows, 'row')} cannot be used, the first on line ${line}${column === null ? '' : `, column "${shorten(column)}"`}: ${reason}`,
      ),
    codeLines(preview, terminal),
    sampleLines(preview, isZoneOpen ? `Placed (as written${reading})` : `Placed (UTC${reading})`, terminal),
  );
}

/** What a run would do with the orders, in the words of its report and of `review --held`. */
function outcomeLines(preview: OrdersPreview): Lines {
  const { credited, revenue, statuses, heldOrders, excluded, organic, ordersInHeldFiles } = preview;
  const isStated = statuses.some(({ status }) => status !== '');
  const states = Map.groupBy(isStated ? statuses : [], ({ effect }) => effect);
  const words = [...states].map(([effect, of]) => {
    const listed = of.map(
      ({ status, orders }) => `${status === '' ? 'none' : shorten(status)} (${formatCount(orders)})`,
    );
    // A state that lets orders count says nothing about those that another column stops.
    const stopped = effect === 'credited' ? sumOrders(of) - credited - organic : 0;
    const others = stopped > 0 ? ` Another reason excludes or holds ${formatCount(stopped)} of them.` : '';
    return `  Orders with these states are ${effect}: ${listed.slice(0, MAX_STATES_SHOWN).join(', ')}.${others}`;
  });
  const never = excluded.map(
    ({ reason, orders }) => `${shorten(reason.replaceAll('_', ' '))} (${formatCount(orders)})`,
  );
  return [
    credited > 0 &&
      `  To be credited, once their codes, links or influencers have an owner: ${countAndSum(credited, revenue)}.`,
    words,
    heldLines(heldOrders),
    never.length > 0 && `  Never posted: ${never.join(', ')}.`,
    excluded
      .filter(({ reason }) => reason === BELOW_ZERO)
      .map(({ orders, revenue }) => `  ! Below zero: ${countAndSum(orders, revenue)}. ${REFUNDS_APART}`),
    organic > 0 && `  Without a code, link or influencer: ${plural(organic, 'order')}.`,
    ordersInHeldFiles > 0 && `  In files that would be held: ${plural(ordersInHeldFiles, 'order')}.`,
  ];
}

function heldLines(groups: OrdersPreview['heldOrders']): Lines {
  if (groups.length === 0) return null;
  const all = sumOrders(groups);
  return [
    `  Held, until better data or your decision settles it: ${countAndSum(
      all,
      groups.flatMap(({ revenue }) => revenue),
      countUnknown(groups),
    )}.`,
    groups.slice(0, WORDS_SHOWN).map((group, at) => {
      const { what, fix } = heldReason(group.reason, group.status);
      const next = groups[at + 1];
      const isSaidBelow =
        at + 1 < WORDS_SHOWN && next !== undefined && heldReason(next.reason, next.status).fix === fix;
      return [
        `    ${countAndSum(group.orders, group.revenue, group.withoutAmount)}: ${shorten(describeReason(group))}`,
        !isSaidBelow && `      ${what}. ${fix}`,
      ];
    }),
    '    After a run, decide about them:  npx influencer-sync review --held',
  ];
}

function countAndSum(orders: number, revenue: OrdersPreview['revenue'], withoutAmount = 0): string {
  return `${plural(orders, 'order')}, ${formatAtLeast(formatAmounts(revenue), withoutAmount)}`;
}

function codeLines({ codes, credited, organic }: OrdersPreview, terminal: Terminal): Lines {
  if (codes.length === 0 && credited + organic === 0) return null;
  if (codes.length === 0)
    return '  No order has a discount code, so only links and influencers in it can credit it.';
  const hasHeld = codes.some(({ held }) => held > 0);
  const table = renderTable(
    [
      { title: 'Code' },
      { title: 'Orders', align: 'right' },
      { title: 'Revenue', align: 'right' },
      ...(hasHeld ? [{ title: 'Held', align: 'right' } as const] : []),
    ],
    codes
      .slice(0, CODES_SHOWN)
      .map(({ code, orders, revenue, held }) => [
        maskAddresses(code),
        formatCount(orders),
        formatAmounts(revenue),
        ...(hasHeld ? [formatCount(held)] : []),
      ]),
    { terminal, indent: '  ' },
  );
  const more = codes.length - CODES_SHOWN;
  return ['', table, more > 0 && `  … and ${plural(more, 'more code')}.`];
}

function sampleLines({ sample, credited }: OrdersPreview, placedTitle: string, terminal: Terminal): Lines {
  if (sample.length === 0) return null;
  const table = renderTable(
    [{ title: 'Order' }, { title: placedTitle }, { title: 'Revenue', align: 'right' }, { title: 'Codes' }],
    sample.map(({ orderId, placedAt, amount, currency, codes }) => [
      maskAddresses(orderId),
      placedAt === null ? '' : formatInstant(placedAt),
      amount === null ? '' : formatMoney(amount, currency),
      maskAddresses(codes.join(', ')),
    ]),
    { terminal, indent: '  ' },
  );
  const more = credited - sample.length;
  return [
    '',
    '  The orders as they would be posted, once their codes have an owner:',
    table,
    more > 0 && `  … and ${plural(more, 'more order')}.`,
  ];
}

/** Lines about the files of a source of customers. */
export function customersLines(examined: CustomersExamined): string {
  const { rows, submitted, passedOver, rejected, firstRejected, consent, isPartial, needsConsent, held } =
    examined;
  const skipped = listPassedOver(passedOver);
  return joinLines(
    `  ${plural(rows, 'row')}${isPartial ? ' looked at' : ''}: ${plural(submitted, 'customer')} to be submitted${rejected === 0 ? '' : `, ${plural(rejected, 'row')} cannot be used`}.`,
    firstRejected !== null &&
      `  The first that cannot be used: ${shorten(firstRejected.file)}, line ${firstRejected.line}${firstRejected.column === null ? '' : `, column "${shorten(firstRejected.column)}"`}: ${firstRejected.reason}`,
    skipped.length > 0 && `  Rows not submitted, by reason: ${skipped.join(', ')}.`,
    `  Consent: ${needsConsent ? 'the export does not say' : toPrintableLine(describeConsent(consent))}.`,
    held.map((reason) => `  ! ${toPrintableLine(reason)}`),
  );
}

/** Renders files that are not exports: each reason once, with its files. */
export function renderRefused({ refused, skipped }: Recognised, terminal: Terminal): string {
  const groups = [...Map.groupBy(refused, ({ why, example = '' }) => `${why}\n${example}`).values()];
  const lines = groups.slice(0, REFUSED_SHOWN).map((files): Lines => {
    const [{ why = '', example = '' } = {}] = files;
    const names = files.slice(0, NAMES_SHOWN).map(({ name }) => toPrintableLine(maskAddresses(name)));
    const others = files.length - names.length;
    return [
      `  ${terminal.style('yellow', '–')} ${names.join(', ')}${others > 0 ? ` and ${plural(others, 'more file')}` : ''}: ${toPrintableLine(why)}`,
      example !== '' && ['', indent(maskAddresses(example.trimEnd()).split('\n')), ''],
    ];
  });
  const more = groups.slice(REFUSED_SHOWN).flat().length;
  return joinLines(
    refused.length > 0 && ['', terminal.style('bold', 'Not read:'), lines],
    more > 0 && `  … and ${plural(more, 'more file')}.`,
    skipped > 0 && `\n${plural(skipped, 'file')} skipped: hidden files, and files that tools leave behind.`,
  );
}

const FATES: Readonly<Record<FileFate['state'], string>> = {
  new: 'new',
  same: 'already exists, unchanged',
  differs: 'already exists and is kept; these lines would change:',
};

/** Renders what happens to the files to write. */
export function renderFates(fates: readonly FileFate[], folder: string, terminal: Terminal): string {
  return joinLines(
    '',
    terminal.style('bold', `Files in ${folder === '.' ? 'this folder' : folder}:`),
    fates.map((fate) => [
      `  ${fate.path}: ${FATES[fate.state]}`,
      fate.state === 'differs' && indent(fate.diff.trimEnd().split('\n').slice(2)),
    ]),
  );
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}

const MAX_CHARS = 60;

function shorten(text: string): string {
  const shown = maskAddresses(toPrintableLine(text));
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS - 1)}…` : shown;
}

/** How a person says which states mean paid. Of several, none is proposed: the first one may be that of a test. */
function sayPaid(column: string, [first = '', ...others]: readonly string[]): string {
  const ofColumn = (word: string): string => inShellQuotes(`${shorten(column)}=${word}`);
  return others.length === 0
    ? `If it means that an order was paid:  --paid ${ofColumn(shorten(first))}`
    : `For each of them that means that an order was paid:  --paid ${ofColumn('WORD')}`;
}
