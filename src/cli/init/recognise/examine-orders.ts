import type { PreviewedJob } from '../../../../jobs/attribute-orders/previewed-job.ts';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { CsvRecord } from '../../../core/record.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import { missingColumns } from '../../../intake/layout/lowering-columns.ts';
import { type ResolvedHeader, resolveHeader } from '../../../intake/layout/resolve-header.ts';
import type { Layout, MoneyFormat } from '../../../intake/layout/to-layout.ts';
import { NO_CURRENCY } from '../../../intake/values/parse-currency.ts';
import {
  Cells,
  codeSeparatorsOf,
  type DateOrderFound,
  dateOrderOf,
  hasPounds,
  isMarkOpen,
  moneyFormatOf,
  statedCurrencies,
  timesOf,
} from './column-values.ts';
import { type OrdersPreview, previewOrders } from './preview-orders.ts';
import { footerOf } from './propose-layout.ts';
import { type ExamineOptions, openDetected } from './recognise-file.ts';

/** A change of the layout that is needed to read the files: a key, its value, and the evidence for it. */
export type LayoutChange = {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly why: string;
};

/**
 * How files are previewed. `adapted`: with the changes of the layout, once they are made. `as_written`: with the layout as it
 * is, so that what does not fit is rejected or held as in a run. `as_configured`: also without the settings that the
 * source lacks.
 */
type Previewed = 'adapted' | 'as_written' | 'as_configured';

/** What was found in the files of one source of orders. */
export type OrdersExamined = {
  readonly kind: 'orders';
  /** The layout, with the changes applied if it is previewed so. */
  readonly layout: Layout;
  readonly changes: readonly LayoutChange[];
  readonly previewed: Previewed;
  readonly needsZone: boolean;
  /** True if the files have days only, and no time of day. */
  readonly isDateOnly: boolean;
  /**
   * Null if a column states the currency. `candidates` are the currencies that appear next to the amounts, and `offered` is
   * the likely one: without candidates, that of a sign which further currencies have, too.
   */
  readonly currency: { readonly candidates: readonly string[]; readonly offered: string | null } | null;
  readonly dateOrder: DateOrderFound;
  /** What the source states of it; null for what it does not. */
  readonly stated: Pick<SourceSettings, 'timeZone' | 'currency'>;
  /**
   * The decimal mark that a person has stated because the amounts of a file do not show it. Null if they all do;
   * `open` if it is not known.
   */
  readonly decimalMark: MoneyFormat['decimal'] | null | 'open';
  /** Columns that files lack although they can only lower money, by name, with what each would say. */
  readonly missing: ReadonlyMap<string, string>;
  readonly preview: OrdersPreview;
  /** Reasons why the files cannot be read. */
  readonly problems: readonly string[];
};

/**
 * Reads the values of a source's files, determines their formats, and previews what a run would do with them.
 */
export async function examineOrders(
  options: ExamineOptions & {
    readonly job: PreviewedJob;
    readonly previewed?: Previewed;
    /** Why files may lack such columns, as a person has stated. */
    readonly missingReason?: string | null;
  },
): Promise<OrdersExamined> {
  const layout = layoutFor(options.layout, 'orders') ?? options.layout;
  const measured = await measure(layout, options);
  const changes: LayoutChange[] = [];
  const problems = [...measured.problems];
  if (options.layout.preambleLines !== options.written.preambleLines)
    changes.push({ path: ['preamble_lines'], value: 'search', why: 'there are lines above the header' });
  const money = measured.money.filled === 0 ? layout.money : moneyFormatOf(measured.money, layout.money);
  if (money === null) problems.push('The amounts have several formats, or are not amounts.');
  else if (money !== layout.money)
    changes.push({
      path: ['money'],
      value: { decimal: money.decimal, thousands: money.thousands, symbols: money.symbols },
      why: `amounts are written with a decimal ${money.decimal === ',' ? 'comma' : 'point'}`,
    });
  const footer = measured.footer.filter((text) => !layout.footer.includes(text));
  if (footer.length > 0)
    changes.push({
      path: ['footer'],
      value: [...layout.footer, ...footer],
      why: `rows after the last order begin with ${footer.map((text) => JSON.stringify(text)).join(' and ')}`,
    });
  const times = timesOf(measured.times, layout.times.formats);
  if (times.formats === null) problems.push('No pattern can read the times.');
  else if (times.formats !== layout.times.formats)
    changes.push({ path: ['times'], value: times.formats, why: 'times have a different format' });
  const separators = codeSeparatorsOf(measured.codes, layout.codes.split);
  if (separators.length > 0)
    changes.push({
      path: ['codes', 'split'],
      value: [...layout.codes.split, ...separators],
      why: `cells hold several codes, joined by ${separators.map((one) => JSON.stringify(one)).join(' and ')}`,
    });
  const changed: Layout = {
    ...options.layout,
    footer: [...layout.footer, ...footer],
    money: money ?? layout.money,
    times: { ...layout.times, formats: times.formats ?? layout.times.formats },
    codes: { ...layout.codes, split: [...layout.codes.split, ...separators] },
  };
  const candidates = statedCurrencies(measured.money);
  const hasCurrency = measured.currency.filled > 0 && !layout.lacks.includes('currency');
  const isZoneGiven = layout.times.zone !== null || measured.hasZoneColumn;
  const found = dateOrderOf(changed, measured.times);
  const { dateOrder: stated } = options.source;
  const dateOrder: DateOrderFound =
    found === 'open' && stated !== null ? { kind: 'settled', order: stated } : found;
  const currencyOfRest = options.source.currency ?? candidates[0] ?? null;
  const isOpen = measured.moneyOfFiles.some((amounts) => isMarkOpen(changed, amounts, currencyOfRest));
  const statedMark = options.source.decimalMark ?? null;
  if (layout.currency !== null && (options.source.currency ?? layout.currency) !== layout.currency)
    problems.push(
      `The amounts are in ${layout.currency} by the layout, so ${options.source.currency} as their currency contradicts it.`,
    );
  const { previewed = 'adapted' } = options;
  const isAdapted = previewed === 'adapted';
  const isComplete = previewed === 'as_configured';
  const preview = await previewOrders(isAdapted ? changed : options.layout, {
    ...options,
    isComplete,
    // Until a person says which mark it is, amounts are shown as the layout reads them.
    source: {
      ...options.source,
      missingColumns: { ...options.source.missingColumns, ...excusedBy(options.missingReason, measured) },
      decimalMark: !isAdapted ? statedMark : isOpen ? (statedMark ?? changed.money.decimal) : null,
    },
    dateOrder: !isAdapted ? stated : typeof dateOrder === 'object' ? dateOrder.order : 'MDY',
    isDateOpen: isAdapted && typeof dateOrder !== 'object',
    // Of files with a column of the currency, no person is asked for it: a run would not know what a blank means.
    currency: options.source.currency ?? (isComplete || hasCurrency ? null : (candidates[0] ?? NO_CURRENCY)),
  });
  return {
    kind: 'orders',
    layout: isAdapted ? changed : options.layout,
    changes,
    previewed,
    needsZone: layout.lacks.includes('time_zone') || (times.needsZone && !isZoneGiven),
    isDateOnly: measured.times.share((cell) => /\d:\d|T\d/.test(cell)) === 0,
    currency:
      hasCurrency || layout.currency !== null
        ? null
        : { candidates, offered: candidates[0] ?? (hasPounds(measured.money) ? 'GBP' : null) },
    dateOrder,
    stated: { timeZone: options.source.timeZone, currency: options.source.currency },
    decimalMark: isOpen ? (statedMark ?? 'open') : null,
    missing: measured.missing,
    preview,
    problems,
  };
}

/** Rows at the end of a file among which those after the last order are looked for. */
const FOOTER_ROWS = 10;

function excusedBy(
  reason: string | null | undefined,
  { missing }: Pick<Measured, 'missing'>,
): Readonly<Record<string, string>> {
  return reason == null ? {} : Object.fromEntries([...missing.keys()].map((name) => [name, reason]));
}

type Measured = Readonly<Record<'money' | 'times' | 'codes' | 'currency', Cells>> & {
  /** The amounts of each file by their currency. Each file must show its decimal mark by itself. */
  readonly moneyOfFiles: Map<string, Cells>[];
  hasZoneColumn: boolean;
  /** How the rows after the last order of a file begin. */
  readonly footer: string[];
  readonly missing: Map<string, string>;
  readonly problems: string[];
};

async function measure(
  layout: Layout,
  { files, maxRows, source, clients }: ExamineOptions,
): Promise<Measured> {
  const measured: Measured = {
    money: new Cells(),
    times: new Cells(),
    codes: new Cells(),
    currency: new Cells(),
    moneyOfFiles: [],
    hasZoneColumn: false,
    footer: [],
    missing: new Map(),
    problems: [],
  };
  let rows = 0;
  for (const { file, encoding } of files) {
    if (rows >= maxRows) break;
    let take: ((record: CsvRecord) => void) | null = null;
    let end: readonly (Pick<CsvRecord, 'record'> & { readonly cells: readonly string[] | null })[] = [];
    measured.moneyOfFiles.push(new Map());
    try {
      for await (const { header, records, lost } of openDetected(file, layout, {
        source,
        clients,
        encoding,
      })) {
        if (take === null) {
          const resolved = resolveHeader(header, layout);
          for (const { columns, says, renamed } of missingColumns(resolved, layout, source))
            for (const name of [columns[0] ?? '', ...renamed]) measured.missing.set(name, says);
          take = takerOf(resolved, layout, measured);
        }
        for (const record of records) take(record);
        end = [...end, ...records.slice(-FOOTER_ROWS), ...lost.slice(-FOOTER_ROWS)]
          .sort((one, other) => one.record - other.record)
          .slice(-FOOTER_ROWS);
        rows += records.length;
        if (rows >= maxRows) break;
      }
      const { beginnings } = footerOf(end.map(({ cells }) => ({ cells: cells ?? [] })));
      measured.footer.push(...beginnings.filter((text) => !measured.footer.includes(text)));
    } catch (error) {
      if (!(error instanceof FileHeld)) throw error;
      measured.problems.push(error.message);
    }
  }
  return measured;
}

/**
 * Returns a function that collects the measured cells of a row. Columns that belong to the whole order are
 * blank on its later rows, so such a blank is not counted.
 */
function takerOf(
  { fields, find, extend }: ResolvedHeader,
  layout: Layout,
  measured: Measured,
): (record: CsvRecord) => void {
  const indexes = (columns: readonly ({ readonly index: number } | null)[]): readonly number[] =>
    columns.flatMap((column) => (column === null ? [] : [column.index]));
  const sums = Object.values(layout.grouping.sum).flatMap(({ plus, minus }) => [...plus, ...minus]);
  const money = indexes([
    ...fields.total,
    ...fields.subtotal,
    ...fields.refunded,
    ...sums.map((name) => find([name])),
  ]);
  const times = indexes([...fields.placed_at, ...fields.paid_at, ...fields.cancelled_at]);
  const [placed] = indexes(fields.placed_at.slice(0, 1));
  const [timeOfDay] = indexes([find(layout.timeOfDay)]);
  const codes = indexes(fields.codes);
  const currency = indexes(fields.currency);
  const status = indexes([...fields.status, ...fields.total]);
  const moneyOfFile = measured.moneyOfFiles.at(-1) ?? new Map<string, Cells>();
  const moneyIn = (stated: string): Cells => {
    const cells = moneyOfFile.get(stated) ?? new Cells();
    moneyOfFile.set(stated, cells);
    return cells;
  };
  measured.hasZoneColumn ||= find(layout.times.zoneColumn) !== null;
  return (record) => {
    const cells = extend === null ? record.cells : extend(record.cells);
    const cell = (at: number): string => cells[at] ?? '';
    const stated = currency.map(cell).find((text) => text.trim() !== '') ?? '';
    for (const at of money) {
      measured.money.add(cell(at));
      moneyIn(stated.trim().toUpperCase()).add(cell(at));
    }
    for (const at of times)
      measured.times.add(
        at === placed && timeOfDay !== undefined ? `${cell(at)} ${cell(timeOfDay)}` : cell(at),
      );
    for (const at of codes) measured.codes.add(cell(at));
    const isFirstRow = status.length === 0 || status.some((at) => cell(at).trim() !== '');
    if (isFirstRow && currency.length > 0) measured.currency.add(stated);
  };
}
