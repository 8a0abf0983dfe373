import { FileHeld } from '../../../core/held/file-held.ts';
import type { Layout } from '../../../core/layout.ts';
import type { CsvChunk } from '../../../core/record.ts';
import type { SourceFile } from '../../../core/source.ts';
import type { PossibleEncoding } from '../../../intake/decode/guess-encoding.ts';
import { refuseNotOrders } from '../../../intake/layout/not-orders.ts';
import type { UnclearColumn } from './assign-columns.ts';
import { describeEncodings, detectTextForm, type ReadingMeans, readTop, type TextForm } from './open-text.ts';
import { type HeaderVerdict, recogniseHeader } from './recognise-header.ts';

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

/** A file that is not a readable export, and the reason. */
export type RefusedFile = {
  readonly file: SourceFile;
  readonly code: string;
  readonly why: string;
  /** Columns about which a person may say more, so that the file can be read. */
  readonly unclear?: readonly UnclearColumn[];
  /** The encodings in which the file could be read, if a person must name one. */
  readonly possible?: readonly PossibleEncoding[];
};

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
    return await look(file, layouts, means);
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    const { code, message } = error.reason;
    return { file, code, why: message };
  }
}

async function look(
  file: SourceFile,
  layouts: readonly Layout[],
  means: ReadingMeans,
): Promise<RecognisedFile | RefusedFile> {
  const form = await detectTextForm(file, means);
  if (form.possible !== null)
    return {
      file,
      code: 'encoding_unclear',
      why: describeEncodings(form.possible),
      possible: form.possible,
    };
  const reading = { ...means, encoding: form.encoding };
  let first: { readonly top: CsvChunk; readonly verdict: HeaderVerdict } | null = null;
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
    if (verdict.kind === 'known') return await asItsLayoutSplits({ file, form, top, verdict }, reading);
    first ??= { top, verdict };
  }
  if (first === null) throw held ?? new Error('no way of splitting was tried');
  const later = await findLaterHeader(file, layouts, reading);
  if (later !== null) return { file, form, ...later };
  const below = await findHeaderBelowTitle(file, first.top, { layouts, reading });
  if (below !== null) return { file, form, isBelowTitle: true, ...below };
  const refusal = damageOf(first.top);
  if (refusal !== null) return { file, ...refusal };
  return { file, form, splitting: plainLayout(layouts, 0), ...first };
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
  found: {
    readonly file: SourceFile;
    readonly form: TextForm;
    readonly top: CsvChunk;
    readonly verdict: HeaderVerdict & { readonly kind: 'known' };
  },
  means: ReadingMeans & { readonly encoding: string | null },
): Promise<RecognisedFile | RefusedFile> {
  const { layout } = found.verdict;
  const top = await readTop(found.file, layout, means);
  if ('held' in top) throw top.held;
  const [fault] = top.rejected;
  if (top.records.length === 0 && fault !== undefined)
    return {
      file: found.file,
      code: 'rows_unreadable',
      why: `Its header is that of ${layout.title}, but ${top.rejected.length === 1 ? 'its row cannot' : `none of its first ${top.rejected.length} rows can`} be read. Line ${fault.line}: ${fault.reason} Export the file again, without opening it in another program.`,
    };
  return { ...found, top, splitting: layout };
}

/** Searches for a known header below a preamble, such as a title, a period or lines of comments. */
async function findLaterHeader(
  file: SourceFile,
  layouts: readonly Layout[],
  means: ReadingMeans & { readonly encoding: string | null },
): Promise<{
  readonly top: CsvChunk;
  readonly verdict: HeaderVerdict;
  readonly splitting: Layout;
} | null> {
  for (let lines = 1; lines <= MAX_PREAMBLE_LINES; lines += 1) {
    const top = await readTop(file, plainLayout(layouts, lines), means);
    if ('held' in top) continue;
    const verdict = recogniseHeader(top.header, layouts);
    if (verdict.kind === 'known') {
      const splitting: Layout = { ...verdict.layout, preambleLines: 'search' };
      return { top, verdict: { ...verdict, layout: splitting }, splitting };
    }
    if (top.records.length === 0) return null;
  }
  return null;
}

/**
 * Finds the header of an unknown file whose first lines are a title: the first line with names only, below which
 * every row has as many cells.
 *
 * @returns null if the first line is the header already, or no line is one.
 */
async function findHeaderBelowTitle(
  file: SourceFile,
  top: CsvChunk,
  {
    layouts,
    reading,
  }: {
    readonly layouts: readonly Layout[];
    readonly reading: ReadingMeans & { readonly encoding: string | null };
  },
): Promise<Pick<RecognisedFile, 'top' | 'splitting' | 'verdict'> | null> {
  const filled = (header: readonly string[]): number => header.filter((name) => name.trim() !== '').length;
  if (filled(top.header) >= MIN_HEADER_CELLS && filled(top.header) * 2 > top.header.length) return null;
  for (let lines = 1; lines <= MAX_TITLE_LINES; lines += 1) {
    const splitting = plainLayout(layouts, lines);
    const below = await readTop(file, splitting, reading);
    if ('held' in below) continue;
    const { header, records, rejected } = below;
    const isOfNames = header.every((name) => /\p{L}/u.test(name) && !name.includes('@'));
    if (header.length >= MIN_HEADER_CELLS && isOfNames && records.length > rejected.length)
      return { top: below, splitting, verdict: { kind: 'unknown' } };
  }
  return null;
}

/** A title has fewer cells than a table of orders. */
const MIN_HEADER_CELLS = 3;
const MAX_TITLE_LINES = 10;

/** Detects files that are not tables: whole lines in quotes, binary content, or a single column. */
function damageOf({ header, records }: CsvChunk): Omit<RefusedFile, 'file'> | null {
  const [only = ''] = header;
  if (header.length === 1 && /[,;\t|]/.test(only))
    return {
      code: 'lines_in_quotes',
      why: 'Each whole line is in quotes, so it is a single cell. Export the file again, without opening it in another program.',
    };
  if (header.some((name) => name.includes('\u0000')))
    return { code: 'no_text', why: 'This is not delimited text.' };
  if (header.length === 1)
    return {
      code: 'one_column',
      why: 'It has only one column, so it is not an export of orders or customers.',
    };
  if (records.length === 0 && header.every((name) => name.trim() === ''))
    return { code: 'empty_file', why: 'It has no header row.' };
  return null;
}
