import type { Column } from './table.ts';

/**
 * The results of a run as data. Each kind of job describes its results once, and the terminal and the HTML
 * page render them in their own way. Text is plain; the renderer escapes it for its medium.
 */
export type Block = TextBlock | CountsBlock | Section;

export type Tone = 'green' | 'yellow' | 'red' | 'dim' | 'alarm';

/** One or two sentences, with related parts and commands. */
export type TextBlock = {
  readonly kind: 'text';
  readonly text: string;
  readonly tone?: Tone;
  readonly parts?: readonly Part[];
  readonly commands?: Commands;
};

/** Counts by outcome; every item is counted once. */
export type CountsBlock = {
  readonly kind: 'counts';
  /** The total, such as `58 orders`. */
  readonly whole: string;
  /** The rest of the heading, after the total. */
  readonly meaning: string;
  readonly lines: readonly CountLine[];
  /** Width of the column of labels on a terminal. */
  readonly labelWidth: number;
  /** The largest possible count, which determines the width of the column. */
  readonly total: number;
  /** An explanation below the counts. */
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

/** A total and the parts that add up to it, each item counted once: `7 orders = 4 posted + 3 held`. */
export type Sum = {
  readonly count: number;
  /** The total with its unit: `7 orders`. */
  readonly whole: string;
  readonly parts: readonly (readonly [count: number, words: string])[];
};

/** A section of a summary: its subject, a count, a list of items, and what to do about them. */
export type Section = {
  readonly kind: 'section';
  readonly title: string;
  /** Left out if the parts are not counted. */
  readonly count?: number;
  /** A short note in the heading. */
  readonly note?: string;
  readonly tone?: 'alarm';
  /** An explanation before the parts. */
  readonly why?: string;
  readonly parts?: readonly Part[];
  /** How many of `count` the parts show. Default: all. */
  readonly shown?: number;
  /** How to fix it; shown after the parts. */
  readonly help?: string;
  readonly commands?: Commands;
};

export type Part =
  | { readonly kind: 'item'; readonly text: string; readonly help?: string }
  | Fault
  | Table
  | Bars
  /** Text of lower importance. */
  | { readonly kind: 'aside'; readonly text: string };

/** A problem in a file that a person must fix. */
export type Fault = {
  readonly kind: 'fault';
  /** File, line and column. */
  readonly place: string;
  /** The value in the file. It is shown on the terminal only, because a page may be passed on. */
  readonly value: string | null;
  /** Name of the source in the configuration; null if the file has none. */
  readonly source: string | null;
  readonly reason: string;
  readonly help: string;
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
  /** Number of rows that a terminal shows. */
  readonly brief: number;
};

export type BarRow = {
  readonly cells: readonly string[];
  /** The group of the bar, such as `EUR`. */
  readonly group: string;
  /** Length of the bar relative to the largest value of its group, from 0 to 1. */
  readonly share: number;
};

/** Commands for a person, and their purpose. */
export type Commands = { readonly about?: string; readonly lines: readonly string[] };
