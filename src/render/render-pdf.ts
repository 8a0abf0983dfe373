import PDFDocument from 'pdfkit';
import type { Block, Part, Section, Table, Tone } from './block.ts';
import type { Letterhead } from './letterhead.ts';
import { formatCount } from './text.ts';

/** A4, portrait. In points, as are all sizes below. */
const MARGIN = 40;
const TEXT_SIZE = 9;
/** Tables that are too wide get smaller type, but not less than this. Text wraps, amounts never do. */
const MIN_TEXT_SIZE = 6;
const TITLE_SIZE = 16;
const COLUMN_GAP = 8;
const LOGO_WIDTH = 170;
const LOGO_HEIGHT = 48;
/** Columns of text get at least this share of the page, so that their words can be read. */
const MIN_TEXT_SHARE = 0.25;
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
 * Renders blocks as a PDF, with the texts and tables of `renderBlocksPage` and without commands. The same blocks
 * always give the same bytes. Characters that the font lacks are printed as `?`, and a line at the end says so.
 *
 * @param options.madeAt date in the properties of the document.
 * @param options.letterhead what stands above the title of a document for somebody outside.
 */
export async function renderBlocksPdf(
  blocks: readonly Block[],
  { title, madeAt, letterhead = null }: { title: string; madeAt: Date; letterhead?: Letterhead | null },
): Promise<Buffer> {
  const page = new PdfPage(title, madeAt, letterhead);
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
  else if (part.kind === 'facts') {
    for (const [name, text] of part.facts) if (text !== null && text !== '') page.text(`${name}: ${text}`);
  } else if (part.kind === 'fault') page.text(`${part.place}: ${part.reason} ${part.help ?? ''}`.trimEnd());
  else page.text(part.text, part.kind === 'aside' ? { tone: 'dim' } : {});
}

const LOSSY =
  'Some names have characters that this document cannot show; they are printed as ?. The formats html and csv show them.';

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
  readonly #lossy: string;
  #pageNo = 0;
  #y = MARGIN;
  #isLossy = false;

  constructor(title: string, madeAt: Date, letterhead: Letterhead | null) {
    this.#title = title;
    this.#lossy = letterhead?.lossy ?? LOSSY;
    this.#document = new PDFDocument({
      size: 'A4',
      margin: MARGIN,
      autoFirstPage: false,
      lang: letterhead?.language ?? 'en',
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
    if (letterhead !== null) this.#head(letterhead);
  }

  /** The logo on the left, the sender on the right, and the addressee where a window of an envelope is. */
  #head({ logo, sender, addressee }: Letterhead): void {
    if (logo !== null)
      this.#document.image(logo.content, MARGIN, this.#y, { fit: [LOGO_WIDTH, LOGO_HEIGHT] });
    const lines = sender.map((line) => this.#printable(line));
    let y = this.#y;
    for (const [index, line] of lines.entries()) {
      this.#font(TEXT_SIZE, index === 0);
      this.#document.fillColor(COLORS.text);
      const x = MARGIN + LOGO_WIDTH + COLUMN_GAP;
      const width = this.#width - LOGO_WIDTH - COLUMN_GAP;
      this.#document.text(line, x, y, { width, align: 'right' });
      y += this.#document.heightOfString(line, { width });
    }
    this.#y = Math.max(y, this.#y + (logo === null ? 0 : LOGO_HEIGHT)) + TEXT_SIZE * 2;
    for (const line of addressee) this.text(line);
    this.#y += TEXT_SIZE * 2;
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
    const scale = Math.min(1, Math.max(available - ofNumbers, this.#width * MIN_TEXT_SHARE) / ofText);
    const widths = natural.map((width, index) => (isText[index] === true ? width * scale + 0.01 : width));
    const heightOf = (cells: readonly string[], isHead: boolean): number => {
      this.#font(size, isHead);
      const heights = cells.map((cell, index) =>
        isText[index] === true ? this.#document.heightOfString(cell, { width: widths[index] ?? 0 }) : 0,
      );
      return Math.max(...heights, size) + size * (LINE_HEIGHT - 1);
    };
    const line = (cells: readonly string[], isHead: boolean): void => {
      const height = heightOf(cells, isHead);
      this.#document.fillColor(COLORS[isHead ? 'dim' : 'text']);
      let x = MARGIN;
      for (const [index, cell] of cells.entries()) {
        const width = widths[index] ?? 0;
        if (isText[index] === true) this.#document.text(cell, x, this.#y, { width });
        else
          this.#document.text(cell, x + width - this.#document.widthOfString(cell), this.#y, {
            lineBreak: false,
          });
        x += width + COLUMN_GAP;
      }
      this.#y += height;
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
      if (this.#reserve(heightOf(row, false))) begin();
      line(row, false);
    }
    this.#y += size / 2;
  }

  end(): Promise<Buffer> {
    if (this.#isLossy) this.text(this.#lossy, { tone: 'dim', before: TEXT_SIZE });
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
    this.#document.addPage({ size: 'A4', margin: 0 });
    this.#pageNo += 1;
    this.#font(TEXT_SIZE - 2, false);
    this.#document.fillColor(COLORS.dim);
    const foot = `${this.#printable(this.#title)} – ${this.#pageNo}`;
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
}
