import type { Column } from '../table.ts';

/**
 * What a run has to say, as data: each kind of job states its results once, and a terminal and a page draw them, each in its own way.
 * Text is plain: whoever draws it escapes what its medium would obey.
 */
export type Block = TextBlock | CountsBlock | Section;

export type Tone = 'green' | 'yellow' | 'red' | 'dim' | 'alarm';

/** A sentence or two, and what belongs to them. */
export type TextBlock = {
  readonly kind: 'text';
  readonly text: string;
  readonly tone?: Tone;
  readonly parts?: readonly Part[];
  readonly commands?: Commands;
};

/** How many stand where, each counted once. */
export type CountsBlock = {
  readonly kind: 'counts';
  /** `58 orders`. */
  readonly whole: string;
  /** What follows it in the heading. */
  readonly meaning: string;
  readonly lines: readonly CountLine[];
  /** Of the column of labels, on a terminal. */
  readonly labelWidth: number;
  /** The largest count that may stand there. */
  readonly total: number;
  /** What a count means, below them. */
  readonly note?: string;
};

/** How many stand at one place: `  posted   32  in 4 requests`. */
export type CountLine = readonly [
  label: string,
  count: number,
  more?: {
    /** Left out where there are none. */
    readonly note?: string;
    /** Only where there are some. */
    readonly color?: 'green' | 'yellow' | 'red' | undefined;
    /** Shown where there are none, too. */
    readonly always?: boolean;
  },
];

/** A whole and the parts that add up to it, each counted once: `7 orders = 4 posted + 3 held`. */
export type Sum = {
  readonly count: number;
  /** The count with what is counted: `7 orders`. */
  readonly whole: string;
  readonly parts: readonly (readonly [count: number, words: string])[];
};

/** A part of a summary: what it is about, how much of it there is, what is listed, and what to do about it. */
export type Section = {
  readonly kind: 'section';
  readonly title: string;
  /** Left out where the parts are not counted. */
  readonly count?: number;
  /** A word about them, in the heading. */
  readonly note?: string;
  readonly tone?: 'alarm';
  /** Stands before the parts. */
  readonly why?: string;
  readonly parts?: readonly Part[];
  /** How many of `count` the parts show; all, unless it is given. */
  readonly shown?: number;
  /** How to fix it; stands after the parts. */
  readonly help?: string;
  readonly commands?: Commands;
};

export type Part =
  | { readonly kind: 'item'; readonly text: string; readonly help?: string }
  | Fault
  | Table
  | Bars
  /** Of less weight. */
  | { readonly kind: 'aside'; readonly text: string };

/** Something in a file that a person must fix. */
export type Fault = {
  readonly kind: 'fault';
  /** File, line and column. */
  readonly place: string;
  /** What stands there, for a person at the terminal; a page that is passed on does not show it. */
  readonly value: string | null;
  /** Of the configuration; null where the file has none. */
  readonly source: string | null;
  readonly reason: string;
  readonly help: string;
};

export type Table = {
  readonly kind: 'table';
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
};

/** A table with a bar beside each row. Bars compare rows of one group only: of one currency. */
export type Bars = {
  readonly kind: 'bars';
  readonly columns: readonly Column[];
  readonly rows: readonly BarRow[];
  /** How many rows there are, also where not all are given. */
  readonly total: number;
  /** A terminal shows so many of them. */
  readonly brief: number;
};

export type BarRow = {
  readonly cells: readonly string[];
  /** What the bar compares: `EUR`. */
  readonly group: string;
  /** From 0 to 1: of the largest of its group. */
  readonly share: number;
};

/** What a person types, and what it is for. */
export type Commands = { readonly about?: string; readonly lines: readonly string[] };
