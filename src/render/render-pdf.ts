import PDFDocument from 'pdfkit';
import type { Block, Part, Section, Table, Tone } from './block.ts';
import { formatCount } from './text.ts';

/** A4, landscape: the tables of a statement have up to ten columns. In points, as are all sizes below. */
const MARGIN = 40;
const TEXT_SIZE = 9;
/** Tables that are too wide get smaller type, but not less than this; then names are cut. */
const MIN_TEXT_SIZE = 6;
const TITLE_SIZE = 16;
const COLUMN_GAP = 8;
const LINE_HEIGHT = 1.45;
const COLORS: Record<Tone | 'text' | 'line', string> = {
  text: '#1d2530',
  line: '#d9dee5',
  dim: '#5b6675',
  green: '#1a7f37',
  yellow: '#8a5a00',
  red: '#b42318',
  alarm: '#b42318',
  bold: '#1d2530',
};

/**
 * Matches characters outside Windows-1252, which the fonts of every PDF reader cover. Other scripts would
 * need fonts of many megabytes.
 */
const NOT_IN_FONT = /[^\x20-\x7e\u00a0-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/gu;

/**
 * Renders blocks as a PDF, with the texts and tables of `renderBlocksPage` and without commands. The same
 * blocks always give the same bytes. Characters that the font lacks are printed as `?`, and a line at the end
 * says so.
 *
 * @param options.madeAt date in the properties of the document.
 */
export async function renderBlocksPdf(
  blocks: readonly Block[],
  { title, madeAt }: { readonly title: string; readonly madeAt: Date },
): Promise<Buffer> {
  const page = new PdfPage(title, madeAt);
  page.text(title, { size: TITLE_SIZE, isBold: true });
  for (const block of blocks) addBlock(page, block);
  return page.end();
}

function addBlock(page: PdfPage, block: Block): void {
  switch (block.kind) {
    case 'counts':
      page.text(`${block.whole} ${block.meaning}`, { isBold: true, before: TEXT_SIZE });
      for (const [label, count, more] of block.lines)
        page.text(`${label}: ${formatCount(count)} ${more?.note ?? ''}`.trim());
      break;
    case 'text':
      // Commands are useful only to the operator who creates the document, not to its readers.
      if (block.commands != null) break;
      page.text(block.text, { before: TEXT_SIZE / 2, ...(block.tone && { tone: block.tone }) });
      for (const part of block.parts ?? []) addPart(page, part);
      break;
    case 'section':
      addSection(page, block);
      break;
    default:
      addPart(page, block);
  }
}

function addSection(page: PdfPage, section: Section): void {
  const { title, count, note = '', tone, why, parts = [], help } = section;
  const heading = count === undefined ? title : `${title} (${formatCount(count)})`;
  page.text(note === '' ? heading : `${heading}: ${note}`, {
    isBold: true,
    before: TEXT_SIZE * 1.5,
    ...(tone && { tone }),
  });
  if (why !== undefined) page.text(why);
  for (const part of parts) addPart(page, part);
  if (help != null) page.text(help, { tone: 'dim' });
}

function addPart(page: PdfPage, part: Part): void {
  if (part.kind === 'table') page.table(part);
  else if (part.kind === 'bars')
    page.table({ kind: 'table', columns: part.columns, rows: part.rows.map(({ cells }) => cells) });
  else if (part.kind === 'facts') for (const [name, text] of part.facts) page.text(`${name}: ${text ?? ''}`);
  else if (part.kind === 'fault') page.text(`${part.place}: ${part.reason} ${part.help}`);
  else page.text(part.text, part.kind === 'aside' ? { tone: 'dim' } : {});
}

type TextStyle = {
  readonly size?: number;
  readonly isBold?: boolean;
  readonly tone?: Tone;
  /** Space above. */
  readonly before?: number;
};

/** Places text and tables one below the other, and begins new pages. */
class PdfPage {
  readonly #document: PDFKit.PDFDocument;
  readonly #title: string;
  readonly #bytes: Promise<Buffer>;
  #pageNo = 0;
  #y = MARGIN;
  #isLossy = false;

  constructor(title: string, madeAt: Date) {
    this.#title = title;
    this.#document = new PDFDocument({
      size: 'A4',
      layout: 'landscape',
      margin: MARGIN,
      autoFirstPage: false,
      lang: 'en',
      displayTitle: true,
      // Otherwise the library writes the present time, and the same statement would be another file each time.
      info: { Title: title, Creator: 'influencer-sync', CreationDate: madeAt, ModDate: madeAt },
    });
    const chunks: Buffer[] = [];
    this.#bytes = new Promise((resolve, reject) => {
      this.#document.on('data', (chunk: Buffer) => chunks.push(chunk));
      this.#document.on('end', () => resolve(Buffer.concat(chunks)));
      this.#document.on('error', reject);
    });
    this.#turn();
  }

  text(text: string, { size = TEXT_SIZE, isBold = false, tone, before = 0 }: TextStyle = {}): void {
    const { printed, width } = { printed: this.#printable(text), width: this.#width };
    this.#font(size, isBold);
    const height = this.#document.heightOfString(printed, { width, lineGap: size * (LINE_HEIGHT - 1.15) });
    this.#y += before;
    this.#reserve(height);
    this.#document.fillColor(COLORS[tone ?? 'text']);
    this.#document.text(printed, MARGIN, this.#y, { width, lineGap: size * (LINE_HEIGHT - 1.15) });
    this.#y += height;
  }

  /** Columns without any value are left out. The head is repeated on each page. */
  table({ columns: allColumns, rows: allRows }: Table): void {
    const places = allColumns.flatMap((_, index) =>
      allRows.some((row) => (row[index] ?? '') !== '') ? [index] : [],
    );
    const columns = places.flatMap((place) => allColumns[place] ?? []);
    const rows = allRows.map((row) => places.map((place) => this.#printable(row[place] ?? '')));
    const head = columns.map(({ title }) => this.#printable(title));
    const measure = (size: number): readonly number[] => {
      this.#font(size, true);
      const titles = head.map((title) => this.#document.widthOfString(title));
      this.#font(size, false);
      return titles.map((width, index) =>
        rows.reduce((most, row) => Math.max(most, this.#document.widthOfString(row[index] ?? '')), width),
      );
    };
    const available = this.#width - COLUMN_GAP * (columns.length - 1);
    const sum = (widths: readonly number[]): number => widths.reduce((total, width) => total + width, 0);
    const size = Math.max(
      MIN_TEXT_SIZE,
      Math.min(TEXT_SIZE, (TEXT_SIZE * available) / sum(measure(TEXT_SIZE))),
    );
    const natural = measure(size);
    const isText = columns.map(({ align }) => align !== 'right');
    const ofNumbers = sum(natural.filter((_, index) => isText[index] !== true));
    const ofText = sum(natural) - ofNumbers;
    const scale = Math.min(1, (available - ofNumbers) / ofText);
    const widths = natural.map((width, index) => (isText[index] === true ? width * scale : width));
    const line = (cells: readonly string[], isHead: boolean): void => {
      this.#font(size, isHead);
      this.#document.fillColor(COLORS[isHead ? 'dim' : 'text']);
      let x = MARGIN;
      for (const [index, cell] of cells.entries()) {
        const width = widths[index] ?? 0;
        const shown = isText[index] === true ? this.#cut(cell, width) : cell;
        const from = isText[index] === true ? x : x + width - this.#document.widthOfString(shown);
        this.#document.text(shown, from, this.#y, { lineBreak: false });
        x += width + COLUMN_GAP;
      }
      this.#y += size * LINE_HEIGHT;
    };
    const begin = (): void => {
      line(head, true);
      const y = this.#y - size * 0.2;
      this.#document
        .moveTo(MARGIN, y)
        .lineTo(MARGIN + this.#width, y)
        .strokeColor(COLORS.line)
        .stroke();
    };
    this.#y += size / 2;
    this.#reserve(size * LINE_HEIGHT * 2);
    begin();
    for (const row of rows) {
      if (this.#reserve(size * LINE_HEIGHT)) begin();
      line(row, false);
    }
    this.#y += size / 2;
  }

  end(): Promise<Buffer> {
    if (this.#isLossy)
      this.text(
        'Some names have characters that this document cannot show; they are printed as ?. The formats html and csv show them.',
        { tone: 'dim', before: TEXT_SIZE },
      );
    this.#document.end();
    return this.#bytes;
  }

  get #width(): number {
    return this.#document.page.width - 2 * MARGIN;
  }

  /** @returns whether a new page was begun, because this height did not fit. */
  #reserve(height: number): boolean {
    if (this.#y + height <= this.#document.page.height - MARGIN) return false;
    this.#turn();
    return true;
  }

  #turn(): void {
    // Text below the margin would begin a page by itself, so the foot is written without one.
    this.#document.addPage({ size: 'A4', layout: 'landscape', margin: 0 });
    this.#pageNo += 1;
    this.#font(TEXT_SIZE - 2, false);
    this.#document.fillColor(COLORS.dim);
    const foot = `${this.#printable(this.#title)} – page ${this.#pageNo}`;
    this.#document.text(foot, MARGIN, this.#document.page.height - MARGIN * 0.7, { lineBreak: false });
    this.#y = MARGIN;
  }

  #font(size: number, isBold: boolean): void {
    this.#document.font(isBold ? 'Helvetica-Bold' : 'Helvetica', size);
  }

  #printable(text: string): string {
    const printed = text.normalize('NFC').replace(/\s/gu, ' ').replace(NOT_IN_FONT, '?');
    if (printed !== text.normalize('NFC').replace(/\s/gu, ' ')) this.#isLossy = true;
    return printed;
  }

  #cut(text: string, width: number): string {
    if (this.#document.widthOfString(text) <= width + 0.01) return text;
    let shown = text;
    while (shown !== '' && this.#document.widthOfString(`${shown}…`) > width) shown = shown.slice(0, -1);
    return `${shown}…`;
  }
}
