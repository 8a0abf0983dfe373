import { isAscii as isAsciiText, isUtf8 } from 'node:buffer';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import type { LayoutField, ReadFor } from '../../../core/layout.ts';
import type { CsvChunk } from '../../../core/record.ts';
import type { SourceFile } from '../../../core/source.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { hasAddress } from '../../../core/text/mask-addresses.ts';
import { smellOf } from '../../../intake/customers/map/consent-words.ts';
import { findMark } from '../../../intake/decode/decode-text.ts';
import { decompress, type FileFormat } from '../../../intake/decode/decompress.ts';
import { guessEncoding, type PossibleEncoding } from '../../../intake/decode/guess-encoding.ts';
import { openFile } from '../../../intake/decode/open-file.ts';
import { peek } from '../../../intake/decode/peek.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import { refuseNotOrders } from '../../../intake/layout/not-orders.ts';
import { spellingsOf } from '../../../intake/layout/resolve-header.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { openRecords } from '../../../intake/read/open-records.ts';
import type { SourceClients } from '../../../store/source-clients.ts';
import type { UnclearColumn } from './assign-columns.ts';
import { amountNameOf, isWordOfNames, nameScorer, SAYS_ORDER } from './column-names.ts';

/** What one file was recognised as. */
export type RecognisedFile = {
  readonly file: SourceFile;
  readonly form: TextForm;
  /**
   * The first rows as the layout splits the file. For an unknown file, as comma-separated text with quotes is
   * split.
   */
  readonly top: CsvChunk;
  /** The layout that splits the file: the recognised one, or a neutral one for an unknown file. */
  readonly splitting: Layout;
  /** Whether there are lines above the header of an unknown file. */
  readonly isBelowTitle?: boolean;
  readonly verdict: HeaderVerdict;
};

/** Why a file is not read. */
export type WhyRefused = {
  readonly code: string;
  readonly why: string;
  /** Columns about which a person may say more, so that the file can be read. */
  readonly unclear?: readonly UnclearColumn[];
  /** All its columns, if any of them is unclear. */
  readonly header?: readonly string[];
  /** The encodings in which the file could be read, if a person must name one. */
  readonly possible?: readonly PossibleEncoding[];
  /** The text of a layout that a person may check and save to have the file read. */
  readonly example?: string;
};

/** A file that is not a readable export. */
export type RefusedFile = WhyRefused & { readonly file: SourceFile };

/** Maximum number of lines before a header that are searched. */
const MAX_PREAMBLE_LINES = 30;

/**
 * Recognises a file: first its compression, encoding, preamble and delimiter, then its header by the
 * signatures of the layouts.
 *
 * @param layouts all known layouts, including those of the deployment.
 */
export async function recogniseFile(
  file: SourceFile,
  layouts: readonly Layout[],
  means: ReadingMeans,
): Promise<RecognisedFile | RefusedFile> {
  try {
    return { file, ...(await look(file, layouts, means)) };
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    const { code, message } = error.reason;
    // The file is named beside the reason.
    return { file, code, why: message.replace(`${file.uri} `, 'It ') };
  }
}

async function look(
  file: SourceFile,
  layouts: readonly Layout[],
  means: ReadingMeans,
): Promise<Omit<RecognisedFile, 'file'> | WhyRefused> {
  const form = await detectTextForm(file, means);
  const { possible } = form;
  if (possible !== null) return { code: 'encoding_unclear', why: describeEncodings(possible), possible };
  const reading = { ...means, encoding: form.encoding };
  let first: Pick<RecognisedFile, 'top' | 'verdict'> | null = null;
  let held: FileHeld | null = null;
  for (const splitting of splittings(layouts)) {
    const top = await readTop(file, splitting, reading);
    if ('held' in top) {
      held ??= top.held;
      // A file that cannot be opened cannot be split in any way.
      if (top.held.reason.code !== 'header_damaged') throw top.held;
      continue;
    }
    const verdict = recogniseHeader(top.header, layouts);
    refuseNotOrders(top.header, verdict.kind === 'known' ? verdict.layout : null);
    if (verdict.kind === 'known')
      return { form, verdict, ...(await asItsLayoutSplits(file, verdict.layout, reading)) };
    first ??= { top, verdict };
  }
  if (first === null) throw held ?? new Error('no way of splitting was tried');
  const below = await findHeaderBelow(file, first.top, { layouts, reading });
  if (below !== null) return { form, ...below };
  return damageOf(first.top) ?? { form, splitting: plainLayout(layouts, 0), ...first };
}

/**
 * The ways of splitting to try. Layouts with an explicit delimiter or without quoting need a way of their
 * own.
 */
function splittings(layouts: readonly Layout[]): readonly Layout[] {
  const plain = plainLayout(layouts, 0);
  const others = layouts.filter(({ quote, delimiter }) => quote === null || delimiter !== 'auto');
  return [plain, ...others];
}

/** A neutral layout that splits a file in the usual way. */
function plainLayout(layouts: readonly Layout[], preambleLines: number): Layout {
  const [any] = layouts;
  if (any === undefined) throw new Error('there is no layout');
  return {
    ...any,
    name: '',
    delimiter: 'auto',
    quote: '"',
    encoding: 'utf-8',
    preambleLines,
    belowHeader: [],
    footer: [],
  };
}

/** Reads the rows again with the recognised layout, which skips descriptions, footers and a preamble. */
async function asItsLayoutSplits(
  file: SourceFile,
  layout: Layout,
  means: DetectedMeans,
): Promise<Pick<RecognisedFile, 'top' | 'splitting'> | WhyRefused> {
  const top = await readTop(file, layout, means);
  if ('held' in top) throw top.held;
  const [fault] = top.rejected;
  if (top.records.length === 0 && fault !== undefined)
    return {
      code: 'rows_unreadable',
      why: `Its header is that of ${layout.title}, but ${top.rejected.length === 1 ? 'its row cannot' : `none of its first ${top.rejected.length} rows can`} be read. Line ${fault.line}: ${fault.reason} Export the file again, without opening it in another program.`,
    };
  return { top, splitting: layout };
}

/**
 * Searches for the header below other lines, such as a title, a period or comments: a known one, else, if the first line
 * is none, the first line with names only, below which every row has as many cells.
 *
 * @returns null if the first line is the header already, or no line is one.
 */
async function findHeaderBelow(
  file: SourceFile,
  top: CsvChunk,
  { layouts, reading }: { layouts: readonly Layout[]; reading: DetectedMeans },
): Promise<Omit<RecognisedFile, 'file' | 'form'> | null> {
  let unknown: Omit<RecognisedFile, 'file' | 'form'> | null = null;
  for (let lines = 1; lines <= MAX_PREAMBLE_LINES; lines += 1) {
    const plain = plainLayout(layouts, lines);
    const below = await readTop(file, plain, reading);
    if ('held' in below) continue;
    const verdict = recogniseHeader(below.header, layouts);
    if (verdict.kind === 'known') {
      const splitting: Layout = { ...verdict.layout, preambleLines: 'search' };
      return { top: below, verdict: { ...verdict, layout: splitting }, splitting };
    }
    if (unknown === null && !isHeader(top) && isHeader(below))
      unknown = { isBelowTitle: true, top: below, splitting: plain, verdict: { kind: 'unknown' } };
    // Below a title, rows have more cells than it, and are rejected.
    if (below.records.length + below.rejected.length === 0) break;
  }
  return unknown;
}

/** Whether a line has the names of columns, and the rows below it have as many cells. */
function isHeader({ header, records, rejected }: CsvChunk): boolean {
  const names = header.filter((name) => name.trim() !== '');
  return (
    names.length >= MIN_HEADER_CELLS &&
    names.length * 2 > header.length &&
    names.every((name) => /\p{L}/u.test(name) && !name.includes('@')) &&
    (records.length > rejected.length || records.length + rejected.length === 0)
  );
}

/** A title has fewer cells than a table of orders. */
const MIN_HEADER_CELLS = 3;

/** Detects files that are not tables: whole lines in quotes, binary content, or a single column. */
function damageOf({ header, records }: CsvChunk): WhyRefused | null {
  const [only = ''] = header;
  if (header.length === 1 && /[,;\t|]/.test(only))
    return {
      code: 'lines_in_quotes',
      why: 'Each whole line is in quotes, so it is a single cell. Export the file again, without opening it in another program.',
    };
  if (header.some((name) => name.includes('\u0000')))
    return { code: 'no_text', why: 'This is not delimited text.' };
  if (header.length === 1 && hasAddress(`${only} ${records[0]?.cells[0] ?? ''}`))
    return {
      code: 'addresses_only',
      why: 'It has e-mail addresses and nothing else, so it does not say whether these people agreed or refused, and none of them is read. If they refused, as in a list of suppressions, other exports may submit them: name the column "email", and add a column "unsubscribed" with "yes" in each row. If they agreed, add "consent" with "yes". The layout generic-customers reads both.',
    };
  if (header.length === 1)
    return {
      code: 'one_column',
      why: 'It has only one column, so it is not an export of orders or customers.',
    };
  if (records.length === 0 && header.every((name) => name.trim() === ''))
    return { code: 'empty_file', why: 'It has no header row.' };
  return null;
}

/** A layout that may read a header. `proof` lists the columns that identify it. */
type Proven = { readonly layout: Layout; readonly proof: readonly string[] };
/** Required columns that a header lacks. Each list names alternatives, of which one is needed. */
type Missing = { readonly missing: readonly (readonly string[])[] };

/** What a header was recognised as. `incomplete`: an export that lacks required columns. */
type HeaderVerdict =
  | ({ readonly kind: 'known' } & Proven)
  | ({ readonly kind: 'incomplete' } & Proven & Missing)
  | { readonly kind: 'unknown' };

/**
 * A translated header has no signature. If a layout requires at least this number of fields and all are
 * found, the header is accepted.
 */
const MIN_FIELDS_WITHOUT_SIGNATURE = 4;
/** A column that other layouts have too is weak evidence alone. Several of them together count. */
const SHARED_COLUMN_WEIGHT = 0.4;
/** Required weight: one distinctive column, or three shared ones. */
const ENOUGH = 1;

type Candidate = Proven &
  Missing & {
    readonly weight: number;
    /** Fields that have a column. */
    readonly fields: ReadonlySet<LayoutField>;
    /** Their number; a column of consent counts as one. */
    readonly found: number;
  };

/** The main purpose of a layout's files. Null if it has none. */
export function subjectOf(layout: Layout): ReadFor | null {
  const subjects: readonly ReadFor[] = ['orders', 'clicks', 'creators', 'customers'];
  return subjects.find((readFor) => layoutFor(layout, readFor) !== null) ?? null;
}

/**
 * Recognises an export by the columns that distinguish it, never by its required columns alone, because
 * nearly every export has a column such as `Email`. A complete signature decides. If several match, the
 * heaviest wins; columns that several layouts share weigh less.
 */
function recogniseHeader(header: readonly string[], layouts: readonly Layout[]): HeaderVerdict {
  const names = new Set(header.map(foldHeader));
  const shared = sharedColumns(layouts);
  const namesOrders = hasOrderNames(header, layouts);
  const asksForConsent = header.some((name) => smellOf(name) === 'consent');
  const candidates = layouts
    .filter((layout) => !namesOrders || subjectOf(layout) !== 'customers')
    .map((layout) => weigh(layout, names, shared))
    .filter((candidate) => !asksForConsent || knowsConsent(candidate));
  const proven = candidates.filter(({ weight }) => weight >= ENOUGH).sort(byWeight);
  const [best] = proven;
  const complete = proven.find(({ missing }) => missing.length === 0);
  if (complete !== undefined) return { kind: 'known', ...complete };
  const hasOrders =
    best !== undefined ? subjectOf(best.layout) === 'orders' : candidates.some(looksLikeOrders);
  const [own] = candidates
    .filter(isOwnOrTranslated)
    .filter(({ layout }) => !hasOrders || subjectOf(layout) === 'orders')
    .sort(byWeight);
  if (own !== undefined) return { kind: 'known', ...own };
  return best === undefined ? { kind: 'unknown' } : { kind: 'incomplete', ...best };
}

/**
 * True if columns are named like the id and the total of an order. Orders have the address of the customer, too, by which
 * some exports of customers are known.
 */
function hasOrderNames(header: readonly string[], layouts: readonly Layout[]): boolean {
  const score = nameScorer(layouts);
  return (
    header.some((name) => score(name, 'order_id') >= SAYS_ORDER) &&
    header.some((name) => {
      const amount = amountNameOf(name);
      return amount?.field === 'total' && amount.certain;
    })
  );
}

/**
 * False for a list of customers that one column alone would prove to be an export without consent, such as `Total Spend`:
 * if the file asks for consent, that export is another one, and who has refused or agreed would not be read.
 */
function knowsConsent({ layout, proof }: Candidate): boolean {
  return (
    subjectOf(layout) !== 'customers' ||
    layout.consent.columns.length > 0 ||
    layout.signature.length === 0 ||
    proof.length > 1
  );
}

function byWeight(one: Candidate, other: Candidate): number {
  return other.weight - one.weight || other.found - one.found;
}

/**
 * Returns true for a custom layout, which has no signature, or a translation of a known export. A single
 * column of addresses is neither.
 */
function isOwnOrTranslated({ layout, missing, found, fields }: Candidate): boolean {
  if (missing.length > 0) return false;
  if (layout.signature.length > 0)
    return layout.required.includes('order_id') && layout.required.length >= MIN_FIELDS_WITHOUT_SIGNATURE;
  // An address and a currency are part of most exports.
  if (subjectOf(layout) === 'customers') return found - (fields.has('currency') ? 1 : 0) >= 2;
  return found >= (subjectOf(layout) === 'orders' ? 3 : 2);
}

/**
 * Returns true if the columns are those of orders, even if some are missing. Orders have addresses and currencies
 * too, so such a file is never taken for a list of customers.
 */
function looksLikeOrders({ layout, fields }: Candidate): boolean {
  return (
    subjectOf(layout) === 'orders' && fields.has('total') && (fields.has('order_id') || fields.has('status'))
  );
}

function weigh(layout: Layout, names: ReadonlySet<string>, shared: ReadonlySet<string>): Candidate {
  const has = (spelling: string): boolean => names.has(foldHeader(spelling));
  const weightOf = (name: string): number => (shared.has(foldHeader(name)) ? SHARED_COLUMN_WEIGHT : 1);
  const [set] = layout.signature
    .filter((columns) => columns.every(has))
    .map((columns) => ({ columns, weight: columns.reduce((sum, name) => sum + weightOf(name), 0) }))
    .sort((one, other) => other.weight - one.weight);
  const lacks = (field: LayoutField): boolean => !originsOf(layout, field).some(has);
  const isOfCustomers = subjectOf(layout) === 'customers';
  const fields = (Object.keys(layout.columns) as LayoutField[]).filter(
    (field) => !(isOfCustomers && field === 'currency') && !lacks(field),
  );
  const missing = [
    ...layout.required.filter(lacks).map((field) => originsOf(layout, field)),
    ...layout.requiredAny
      .filter((list) => list.every(lacks))
      .map((list) => list.flatMap((field) => originsOf(layout, field))),
  ];
  const required = layout.required.flatMap((field) => originsOf(layout, field).find(has) ?? []);
  return {
    layout,
    proof: set?.columns ?? required,
    weight: set?.weight ?? 0,
    missing,
    fields: new Set(fields),
    found: fields.length + (layout.consent.columns.some(has) ? 1 : 0),
  };
}

/** The spellings of a field's columns in files; for the columns that the layout adds, those that they come from. */
function originsOf(layout: Layout, field: LayoutField): readonly string[] {
  const added = [...layout.conditionalColumns, ...layout.joinedColumns];
  const origins = new Map(added.map(({ name, columns }) => [name, columns]));
  return spellingsOf(layout, field).flatMap((name) => origins.get(name) ?? name);
}

/** Columns that several layouts read, folded. */
function sharedColumns(layouts: readonly Layout[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const layout of layouts) {
    const all = (Object.keys(layout.columns) as LayoutField[]).flatMap((field) => originsOf(layout, field));
    for (const name of new Set(all.map(foldHeader))) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count > 1).map(([name]) => name));
}

/** What is needed to read a file for the first time: its source with the limits, and access to its store. */
export type ReadingMeans = {
  readonly source: SourceSettings;
  readonly clients: SourceClients;
  /** The encoding that a person states for files whose bytes do not show theirs. */
  readonly assumedEncoding?: string | null;
};

/** Files that are read by one layout, to learn about their values. */
export type ExamineOptions = ReadingMeans & {
  readonly files: readonly { readonly file: SourceFile; readonly encoding: string | null }[];
  /** The layout with which the recogniser has read the header. */
  readonly layout: Layout;
  /** The layout as its file defines it, before the recogniser changed it. */
  readonly written: Layout;
  /** Maximum number of rows that are examined, in all files together. */
  readonly maxRows: number;
};

/** The same once the encoding is detected: null means UTF-8, or the encoding of the byte order mark. */
export type DetectedMeans = ReadingMeans & { readonly encoding: string | null };

/** How the bytes of a file become text. */
export type TextForm = {
  readonly format: FileFormat;
  /** Null means UTF-8, or the encoding of the byte order mark. */
  readonly encoding: string | null;
  /** Whether the beginning has only letters that nearly every encoding writes in the same way. */
  readonly isAscii: boolean;
  /** The encodings that it may have. Null if it is known; otherwise a person must name one: the source's `encoding`. */
  readonly possible: readonly PossibleEncoding[] | null;
};

/** Says in which encodings a file could be read, with words or letters as they would look. */
export function describeEncodings(possible: readonly PossibleEncoding[]): string {
  const listed = possible.map(({ encoding, samples }) => `${encoding}: ${samples.join(', ')}`);
  return `Its text is not UTF-8, and its letters do not show which encoding it has${listed.length === 0 ? '.' : `. It may be ${listed.join('; ')}.`}`;
}

/**
 * Number of bytes in which the encoding is detected. If it does not hold further down, a run reports the
 * line.
 */
const HEAD_BYTES = 256 * 1024;
/** Maximum number of bytes of a character that is cut off at the end of the head. */
const LONGEST_CHARACTER = 4;

/**
 * Reads the beginning of a file to detect its compression and encoding. What the source or a person
 * states counts if the bytes do not show it.
 *
 * @throws FileHeld for the same reasons as in a run.
 */
export async function detectTextForm(
  file: SourceFile,
  { source, clients, assumedEncoding }: ReadingMeans,
): Promise<TextForm> {
  let format: FileFormat = 'plain';
  const content = decompress(openFile(file, { source, clients }), {
    uri: file.uri,
    limits: source.limits,
    onFormat: (found) => {
      format = found;
    },
  });
  const { head, all } = await peek(content, HEAD_BYTES);
  await (all as AsyncGenerator<Uint8Array>).return(undefined);
  const shown = encodingOf(head);
  const isAscii = isAsciiText(head);
  const stated = source.encoding ?? assumedEncoding ?? null;
  if (shown !== 'other' || stated !== null)
    return { format, encoding: shown === 'other' ? stated : shown, isAscii, possible: null };
  const guessed = guessEncoding(head);
  if (guessed.kind === 'known') return { format, encoding: guessed.encoding, isAscii, possible: null };
  const encoding = encodingOfNames(guessed.possible);
  return { format, encoding, isAscii, possible: encoding === null ? guessed.possible : null };
}

/** The only encoding in which the first words, which are those of the header, are names of columns. */
function encodingOfNames(possible: readonly PossibleEncoding[]): string | null {
  const [best, ...others] = possible.filter(({ samples }) => samples.some(isWordOfNames));
  if (best === undefined || others.length > 0) return null;
  return best.samples.filter(isWordOfNames).length > 1 ? best.encoding : null;
}

/** The encoding that the bytes prove: null for UTF-8 or a byte order mark, `other` if they prove none. */
function encodingOf(head: Buffer): 'utf-16le' | 'utf-16be' | 'other' | null {
  if (findMark(head) !== null) return null;
  // UTF-16 without a byte order mark: nearly every other byte of a header is zero. A single NUL is damage,
  // which a run reports.
  const zeros = { even: 0, odd: 0 };
  const looked = head.subarray(0, 1_024);
  for (const [at, byte] of looked.entries()) if (byte === 0) zeros[at % 2 === 0 ? 'even' : 'odd'] += 1;
  if (zeros.odd > looked.length / 4 && zeros.even === 0) return 'utf-16le';
  if (zeros.even > looked.length / 4 && zeros.odd === 0) return 'utf-16be';
  const isWhole = head.length < HEAD_BYTES;
  for (let cut = 0; cut < (isWhole ? 1 : LONGEST_CHARACTER); cut += 1)
    if (isUtf8(head.subarray(0, head.length - cut))) return null;
  return 'other';
}

/**
 * Opens the records of a file with the delimiters of a layout and the detected encoding. @throws FileHeld
 * while the records are read.
 */
export function openDetected(
  file: SourceFile,
  layout: Layout,
  { source, clients, encoding }: DetectedMeans,
): AsyncGenerator<CsvChunk> {
  return openRecords(file, layout, { source: encoding === null ? source : { ...source, encoding }, clients })
    .records;
}

/**
 * Reads the header row and some rows below it, with the delimiters of one layout. Returns `held` if the file
 * cannot be split in this way.
 */
export async function readTop(
  file: SourceFile,
  layout: Layout,
  means: DetectedMeans,
): Promise<CsvChunk | { readonly held: FileHeld }> {
  let top: CsvChunk = { header: [], records: [], rejected: [], lost: [], open: null };
  try {
    for await (const { header, records, rejected } of openDetected(file, layout, means)) {
      const all = { records: [...top.records, ...records], rejected: [...top.rejected, ...rejected] };
      top = { header, ...all, lost: [], open: null };
      if (top.records.length >= TOP_ROWS) break;
    }
  } catch (error) {
    // Problems further down are reported when the values are read.
    if (error instanceof FileHeld) return top.header.length > 0 ? top : { held: error };
    throw error;
  }
  return top;
}

/** Number of rows that are enough to recognise the values of a column. */
const TOP_ROWS = 500;
