import type { Column } from './table.ts';

/**
 * An answer as data: the results of a run, a list, a statement. Each question describes its answer once, and the
 * terminal, the HTML page and the PDF render it in their own way. Text is plain; the renderer escapes it for its medium.
 */
export type Block = TextBlock | CountsBlock | Section | Table | Facts;

export type Tone = 'green' | 'yellow' | 'red' | 'dim' | 'alarm' | 'bold';

/** One or two sentences, with related parts and commands. */
export type TextBlock = {
  readonly kind: 'text';
  readonly text: string;
  readonly tone?: Tone;
  readonly parts?: readonly Part[];
  readonly commands?: Commands | null;
};

/** Items by what became of them, each counted once, so that the counts add up to the total. */
export type CountsBlock = {
  readonly kind: 'counts';
  readonly count: number;
  /** The total with its unit, such as `58 orders`. */
  readonly whole: string;
  /** The rest of the heading, after the total. */
  readonly meaning: string;
  readonly lines: readonly CountLine[];
  /** What adds up to the total, if the lines do not: they count something else as well, or there are none. */
  readonly parts?: readonly CountLine[];
  readonly note?: string;
};

/** One count: `  posted   32  in 4 requests`. */
export type CountLine = readonly [
  label: string,
  count: number,
  more?: {
    /** Left out if the count is 0. */
    readonly note?: string;
    /** Applied only if the count is not 0. */
    readonly color?: 'green' | 'yellow' | 'red' | undefined;
    /** Whether to show the line even if the count is 0. */
    readonly always?: boolean;
  },
];

/** A section of an answer: its subject, a count, a list of items, and what to do about them. */
export type Section = {
  readonly kind: 'section';
  readonly title: string;
  /** Left out if the parts are not counted. */
  readonly count?: number;
  readonly note?: string;
  readonly tone?: Tone;
  readonly why?: string;
  readonly parts?: readonly Part[];
  /** How many of `count` the parts show. Default: all. */
  readonly shown?: number;
  /** How to fix it; shown after the parts. */
  readonly help?: string | null;
  readonly commands?: Commands | null;
};

export type Part =
  | { readonly kind: 'item'; readonly text: string; readonly help?: string | null; readonly tone?: Tone }
  | Fault
  | Table
  | Bars
  | Facts
  | Dated
  | { readonly kind: 'aside'; readonly text: string };

/** A problem in a file that a person must fix. */
export type Fault = {
  readonly kind: 'fault';
  readonly place: string;
  /** The value in the file. It is shown on the terminal only, because a page may be passed on. */
  readonly value: string | null;
  /** Name of the source in the configuration; null if the file has none. */
  readonly source: string | null;
  readonly reason: string;
  /** Null: the next part of the section says it. */
  readonly help: string | null;
};

export type Table = {
  readonly kind: 'table';
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
};

/** A table with a bar in each row. Only bars of the same group, such as a currency, can be compared. */
export type Bars = {
  readonly kind: 'bars';
  readonly columns: readonly Column[];
  readonly rows: readonly BarRow[];
  /** Total number of rows, including those not listed. */
  readonly total: number;
  readonly brief: number;
};

export type BarRow = {
  readonly cells: readonly string[];
  /** The group of the bar, such as `EUR`. */
  readonly group: string;
  /** Length of the bar relative to the largest value of its group, from 0 to 1. */
  readonly share: number;
};

/** Names and values. What is empty or null is left out. */
export type Facts = {
  readonly kind: 'facts';
  readonly facts: readonly (readonly [name: string, text: string | null])[];
};

/** Something that happened, with its time. Null: the time is unknown. */
export type Dated = {
  readonly kind: 'dated';
  readonly at: Date | null;
  readonly text: string;
  readonly detail: string | null;
};

/** Commands for a person, and their purpose. */
export type Commands = { readonly about?: string; readonly lines: readonly string[] };

/** A column of a table of rows: its title, how it looks, and what it shows of a row: text, or in the console markup. */
export type ColumnOf<Row, Cell> = Column & { readonly cell: (row: Row) => Cell };

/** A column of text. */
export function column<Row, Cell>(title: string, cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title, cell };
}

/** A column of numbers or amounts. */
export function number<Row, Cell>(title: string, cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title, align: 'right', cell };
}

/** A column of ids, times or states, which stay on one line. */
export function whole<Row, Cell>(title: string, cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title, cutAt: 'never', cell };
}

/** A column of handles of creators. */
export function creators<Row, Cell>(cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title: 'creator', names: 'creator', cell };
}

/** A column of ids of deals. */
export function deals<Row, Cell>(cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title: 'deal', names: 'deal', cutAt: 'never', cell };
}

/** A column of ids of orders, of any source. */
export function orders<Row, Cell>(cell: (row: Row) => Cell): ColumnOf<Row, Cell> {
  return { title: 'order', names: 'order', cutAt: 'never', cell };
}

export function table<Row>(rows: readonly Row[], columns: readonly ColumnOf<Row, string | null>[]): Table {
  return { kind: 'table', columns, rows: rows.map((row) => columns.map(({ cell }) => cell(row) ?? '')) };
}

export function say(text: string, more: Omit<TextBlock, 'kind' | 'text'> = {}): TextBlock {
  return { kind: 'text', text, ...more };
}

/**
 * A section, without tables that have no rows. None if it has only such parts.
 * @param more.of how many things there are, of which the parts list the first ones.
 * @param more.otherwise what it says if there are no parts.
 */
export function section(
  title: string,
  {
    of,
    parts: given,
    otherwise,
    ...more
  }: Omit<Section, 'kind' | 'title' | 'parts'> & {
    readonly of?: number;
    readonly parts?: Part | readonly Part[];
    readonly otherwise?: string;
  },
): readonly Section[] {
  if (given === undefined) return [{ kind: 'section', title, ...more }];
  const filled = withHelpOnce([given].flat().filter((part) => !('rows' in part) || part.rows.length > 0));
  const parts = filled.length === 0 && otherwise !== undefined ? [item(otherwise)] : filled;
  if (parts.length === 0) return [];
  const shown = parts.reduce(
    (sum, part) => sum + ('rows' in part ? part.rows.length : part.kind === 'aside' ? 0 : 1),
    0,
  );
  return [{ kind: 'section', title, ...(of === undefined ? {} : { count: of, shown }), parts, ...more }];
}

/** Of parts in a row with the same help, only the last one says it. */
function withHelpOnce(parts: readonly Part[]): readonly Part[] {
  const helpOf = (part: Part | undefined): string | null =>
    part?.kind === 'item' || part?.kind === 'fault' ? (part.help ?? null) : null;
  return parts.map((part, at) =>
    helpOf(part) !== null && helpOf(part) === helpOf(parts[at + 1]) ? { ...part, help: null } : part,
  );
}

export function item(text: string, help: string | null = null, tone?: Tone): Part {
  return { kind: 'item', text, help, ...(tone === undefined ? {} : { tone }) };
}

export function facts(shown: Facts['facts']): Facts {
  return { kind: 'facts', facts: shown };
}

/** The text that there is more than a list shows, if so. */
export function more(hasMore: boolean, text: string): readonly Part[] {
  return hasMore ? [{ kind: 'aside', text }] : [];
}
