import { hash } from 'node:crypto';
import type { SourceSettings } from '../../src/config/source-fields.ts';
import type { LayoutField } from '../../src/core/layout.ts';
import type { CsvRecord } from '../../src/core/record.ts';
import { foldCode, foldHandle } from '../../src/core/text/fold.ts';
import { maskAddresses } from '../../src/core/text/mask-addresses.ts';
import { mayExcludeClicks, namesProgram, sumsUp } from '../../src/intake/layout/column-words.ts';
import type { Column, ResolvedHeader } from '../../src/intake/layout/resolve-header.ts';
import type { Layout } from '../../src/intake/layout/to-layout.ts';
import { rowExcluder } from '../../src/intake/map/exclude-rows.ts';
import type { Fault } from '../../src/intake/map/fault.ts';
import { linkFinder, linkOf } from '../../src/intake/map/find-links.ts';
import { firstFilled, type MapRowsOptions, type ReadRow } from '../../src/intake/map/map-rows.ts';
import { cleanText } from '../../src/intake/values/clean-text.ts';
import { type DateWatch, watchDates, withDateOrder } from '../../src/intake/values/date-order.ts';
import { parseId } from '../../src/intake/values/parse-id.ts';
import { timeParser } from '../../src/intake/values/parse-time.ts';

export type StatedClicks = {
  /** What was clicked, in a normalised form, so that all spellings are equal. */
  readonly subject: string;
  /** What was clicked, as shown to people. */
  readonly written: string;
  /** Texts in the subject that may name an influencer, folded like codes. */
  readonly references: readonly string[];
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** YYYY-MM-DD, as the export counts days. */
  readonly day: string;
  /** ISO 3166-1 alpha-2. Empty if the export does not state the country. */
  readonly country: string;
  /** What the row covers: see `Coverage`. */
  readonly covers: Coverage;
  readonly clicks: number;
  /**
   * The blank ones of the columns that no field but the name of the influencer reads, for example the device. Beside rows
   * in which they are filled, the row may add up those.
   */
  readonly blank: readonly string[];
  /** Digest of all cells of the row except the number of clicks: a row that occurs twice may come from two joined exports. */
  readonly row: string;
};

/**
 * What the clicks of a row cover. `country`: those of one country. `named`: those of a country that is written as a
 * word, which the service does not take. `unknown`: those of which the export knows no country. `whole`: all of the
 * day, because no country is stated.
 */
export type Coverage = 'country' | 'named' | 'unknown' | 'whole';

/** The influencer, code or link that a row is about. */
type Subject = Omit<StatedClicks, 'day' | 'country' | 'covers' | 'clicks' | 'blank' | 'row'>;

/** What exports write if they do not know a country. */
const NO_COUNTRY = /^\(?(?:not set|unknown|other|others|none|n\/a|undefined)\)?$/i;
/** What web analytics tools write if they know no page. */
const NO_PAGE = /^\((not set|other|none|direct)\)$/i;
/** A word in a path that may be a code or a handle. */
const WORD = /^[\p{L}\p{N}@._-]{2,100}$/u;

/**
 * Reads rows of clicks. Skips rows without a link, a code or an influencer, such as totals and pages that the
 * export does not know. Also skips the home page, because it names no influencer.
 *
 * @param source whose `date_order` says whether numeric days begin with the month or the day.
 */
export function readClicks(
  source: Pick<SourceSettings, 'name' | 'dateOrder'>,
): Pick<MapRowsOptions<StatedClicks>, 'open' | 'atEnd'> {
  let dates: DateWatch | null = null;
  return {
    open: (header, layout) => {
      dates = watchDates(layout, source);
      return readerOf(header, withDateOrder(layout, source.dateOrder), dates);
    },
    atEnd: () => dates?.require(),
  };
}

function readerOf(
  header: ResolvedHeader,
  layout: Layout,
  dates: DateWatch | null,
): (record: CsvRecord) => ReadRow<StatedClicks> {
  const find = subjectFinder(header, layout);
  const exclude = rowExcluder(header, layout, OF_PEOPLE);
  const unread = header.findAll(header.unread);
  const dimensions = [...unread, ...NAMING.flatMap((field) => header.fields[field])];
  const parseDay = timeParser(layout.times.formats, layout.times.zone ?? 'UTC');
  return ({ cells, line }) => {
    const excluded = exclude(cells);
    if (excluded !== null) return excluded;
    const subject = find(cells);
    if ('kind' in subject) return subject;
    const total = unread.find(({ index }) => sumsUp(cells[index] ?? ''));
    if (total !== undefined) return { kind: 'fault', fault: MAY_BE_TOTAL, column: total };
    const program = unread.find(({ index }) => namesProgram(cells[index] ?? ''));
    if (program !== undefined) return { kind: 'fault', fault: UNKNOWN_KIND, column: program };
    const day = firstFilled(cells, header.fields.day);
    if (day === null) return { kind: 'fault', fault: NO_DAY, column: header.fields.day[0] ?? null };
    dates?.see(day.text, line);
    const instant = parseDay(day.text);
    if (typeof instant !== 'string') return { kind: 'fault', fault: instant, column: day.column };
    const counted = firstFilled(cells, header.fields.clicks);
    const clicks = parseCount(counted?.text ?? '', layout);
    if (clicks === null)
      return { kind: 'fault', fault: NO_COUNT, column: counted?.column ?? header.fields.clicks[0] ?? null };
    const written = cleanText(firstFilled(cells, header.fields.country)?.text ?? '').toUpperCase();
    const covers = coverageOf(written);
    return {
      kind: 'row',
      row: {
        ...subject,
        // The day is taken as the export writes it, whatever offset it writes, because the export counts by
        // its own days.
        day: ISO_DAY.exec(day.text.trim())?.[1] ?? instant.slice(0, 10),
        country: covers === 'country' ? written : '',
        covers,
        clicks,
        blank: dimensions.filter(({ index }) => (cells[index] ?? '').trim() === '').map(({ name }) => name),
        row: digestOf(cells, counted?.column ?? null),
      },
    };
  };
}

function coverageOf(country: string): Coverage {
  if (country === '') return 'whole';
  if (/^[A-Z]{2}$/.test(country)) return 'country';
  return NO_COUNTRY.test(country) ? 'unknown' : 'named';
}

function digestOf(cells: readonly string[], except: Column | null): string {
  const others = cells.map((cell, at) => (at === except?.index ? '' : cell.trim()));
  return hash('sha256', others.join('\u0000'), 'base64url').slice(0, DIGEST_CHARS);
}

/** 132 bits: two rows of a file never have the same digest by chance. */
const DIGEST_CHARS = 22;
const ISO_DAY = /^(\d{4}-\d{2}-\d{2})(?!\d)/;

/**
 * Parses a whole number. The thousands separator of the layout may stand only where thousands are: `1,5` is one and a
 * half in another country, and not 15.
 */
function parseCount(text: string, { money: { thousands } }: Layout): number | null {
  const [first = '', ...groups] = thousands === null ? [text] : text.split(thousands);
  if (!/^\d{1,12}$/.test(first) || (groups.length > 0 && first.length > 3)) return null;
  if (!groups.every((group) => /^\d{3}$/.test(group)) || groups.length > 3) return null;
  return Number(first + groups.join(''));
}

function subjectFinder(
  { fields }: ResolvedHeader,
  { links }: Layout,
): (cells: readonly string[]) => Subject | Exclude<ReadRow<never>, { kind: 'row' }> {
  const valuesOf = linkFinder({ keys: [], parameters: links.parameters });
  const named = (
    cells: readonly string[],
    field: LayoutField,
  ): { id: string; column: Column } | Fault | null => {
    const filled = firstFilled(cells, fields[field]);
    if (filled === null) return null;
    const id = parseId(filled.text);
    return typeof id === 'string' ? { id, column: filled.column } : id;
  };
  return (cells) => {
    const code = firstFilled(cells, fields.codes);
    const link = firstFilled(cells, fields.links);
    const clicked = link === null || NO_PAGE.test(link.text) ? null : link.text;
    const linked = clicked === null ? null : linkSubject(clicked, valuesOf(clicked));
    const written = code === null ? '' : maskAddresses(cleanText(code.text));
    const folded = code === null ? [] : [foldCode(written)];
    const references = [...new Set([...folded, ...(linked?.references ?? [])])];
    for (const [field, kind] of EXPLICIT) {
      const found = named(cells, field);
      if (found === null) continue;
      if ('code' in found) return { kind: 'fault', fault: found, column: fields[field][0] ?? null };
      const handle = kind === 'handle' ? null : named(cells, 'influencer_handle');
      const isWith = handle !== null && 'id' in handle ? { influencerHandle: handle.id } : {};
      return { ...explicitSubject(kind, found.id), ...isWith, references };
    }
    if (code !== null) return { ...NOBODY, subject: `code:${folded[0]}`, written, references };
    return linked ?? { kind: 'passed_over', why: clicked === null ? 'no_link' : 'names_nobody' };
  };
}

const EXPLICIT = [
  ['deal_id', 'deal'],
  ['collab_id', 'collab'],
  ['influencer_handle', 'handle'],
] as const;

/** The columns that may name the influencer of a row. */
const NAMING = [
  ...EXPLICIT.map(([field]) => field),
  'codes',
  'links',
] as const satisfies readonly LayoutField[];

const NOBODY = { influencerHandle: null, dealId: null, collabId: null } as const;

function explicitSubject(kind: 'deal' | 'collab' | 'handle', id: string): Subject {
  const folded = kind === 'handle' ? foldHandle(id) : id;
  const names = {
    influencerHandle: kind === 'handle' ? id : null,
    dealId: kind === 'deal' ? id : null,
    collabId: kind === 'collab' ? id : null,
  };
  return { ...names, subject: `${kind}:${folded}`, written: id, references: [] };
}

/** Null for a page that can name no influencer: the home page without a known parameter of the layout. */
function linkSubject(text: string, values: readonly string[]): Subject | null {
  const address = addressOf(text);
  const word = cleanText(address.split('/').at(-1) ?? '');
  const references = [...values, ...(address === '' ? [] : [address]), ...(WORD.test(word) ? [word] : [])];
  if (references.length === 0) return null;
  const written = `${address === '' ? '/' : address}${values.length === 0 ? '' : ` (${values.join(', ')})`}`;
  return {
    ...NOBODY,
    subject: `link:${foldCode(`${address}?${[...values].sort().join('&')}`)}`,
    written,
    references: [...new Set(references.map(foldCode))],
  };
}

/**
 * The host and path of an address, or the path alone if the export writes pages that way. Empty for a home
 * page.
 */
function addressOf(text: string): string {
  const isWithHost = /^https?:\/\//i.test(text) || /^[\w-]+(\.[\w-]+)+[/?]/.test(text);
  if (isWithHost) return linkOf(/^https?:/i.test(text) ? text : `https://${text}`)[0] ?? '';
  const path = URL.parse(text, 'https://relative.invalid')?.pathname ?? '';
  return maskAddresses(cleanText(path.replace(/(?<!\/)\/+$/, '')));
}

const NO_DAY: Fault = {
  code: 'missing_value',
  reason: 'The day is blank.',
  help: 'Export the clicks by day: without a day, the tool cannot tell which clicks were posted before.',
};
const UNKNOWN_KIND: Fault = {
  code: 'unknown_kind',
  reason: 'The layout does not say whether clicks of this kind count.',
  help: 'Add the word to a rule for this column under exclusions of the layout: under unless if such clicks count, else under equals.',
};
const OF_PEOPLE: Parameters<typeof rowExcluder>[2] = {
  mayExclude: mayExcludeClicks,
  mayMean: 'that a row has no clicks of people',
  lost: 'Without it, clicks of bots or tests would be posted, and the service cannot take clicks back.',
  help: 'Say in a layout of your own which of its words count: exclusions: [{ reason: bot, columns: [type], equals: [bot], unless: [link, ""] }]. Or export only clicks of people, without the column.',
  unknown: UNKNOWN_KIND,
};
const MAY_BE_TOTAL: Fault = {
  code: 'may_be_total',
  reason: 'The row may add up the clicks of other rows, which would then count twice.',
  help: 'If it does, remove such rows. If it does not, remove the column: the tool does not need it.',
};
const NO_COUNT: Fault = {
  code: 'bad_count',
  reason: 'This is not a number of clicks.',
  help: 'Write a whole number, for example 120. Check that the layout names the right column as clicks.',
};
