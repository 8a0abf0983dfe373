/** One record of a delimited file, before it is interpreted. */
export type CsvRecord = {
  readonly cells: readonly string[];
  /** Physical line on which the record begins, 1-based, counting the header. */
  readonly line: number;
  /** 1-based record number, not counting the header and any preamble. */
  readonly record: number;
};

/** A row that cannot be used. It is stored and shown, and never dropped silently. */
export type RejectedRow = {
  /** Stable machine name of the problem, for example `bad_money`. */
  readonly code: string;
  /** Physical line on which the record begins, 1-based. */
  readonly line: number;
  readonly record: number;
  /** Header of the faulty column. Null if the problem concerns the whole row. */
  readonly column: string | null;
  /** The faulty value, truncated to 200 characters, with e-mail addresses and what may name a person masked. */
  readonly value: string | null;
  /** What is wrong, in one sentence. */
  readonly reason: string;
  /** How to fix it, in one sentence. */
  readonly help: string;
  /** Number of rows of the file that it represents. More than 1 if a whole order is rejected. */
  readonly rowCount: number;
  /** Id of the order that it states, and its name if that is another one. Omitted if they are not known. */
  readonly orderId?: string | null;
  readonly orderName?: string | null;
  /** When the order last changed, if that is known although its rows contradict each other. Otherwise omitted. */
  readonly changedAt?: string | null;
};

/** A row that describes the file, such as a total. It is no record of it. */
export type FooterRow = {
  /** Physical line on which it begins, 1-based. */
  readonly line: number;
  /** Its first filled cell, cut, with addresses and what may name a person masked. */
  readonly text: string;
  /** What shows it: `label` (the layout names it), `sum` or `count` (of the rows above). */
  readonly by: 'label' | 'sum' | 'count';
};

/** A rejected row as far as it was read, to find the order that it belongs to. */
export type LostRow = {
  readonly record: number;
  /** True if it repeats the header: files were joined there. */
  readonly isHeader: boolean;
  /** Its cells, which may be in the wrong columns. Null if they are not known. */
  readonly cells: readonly string[] | null;
};

/** The last row of a text that ends without a line break: it may be cut. */
export type OpenRow = {
  readonly record: number;
  /** Physical line on which it begins, 1-based. */
  readonly line: number;
  /** Index of its last cell, which may continue. */
  readonly lastAt: number;
  readonly text: string;
};

/**
 * Records of one part of a file (some 100 kB) that parsing passes to mapping, and the rows that are not valid
 * records.
 */
export type CsvChunk = {
  /** Cells of the header row as written, the same in every chunk of a file. */
  readonly header: readonly string[];
  readonly records: readonly CsvRecord[];
  /** Rows that could not be read: faulty quoting, another number of columns, or a repeated header. */
  readonly rejected: readonly RejectedRow[];
  /** The same rows, as far as they were read. */
  readonly lost: readonly LostRow[];
  /** The last row, rejected or not, if the text ends within it. Only in the last chunk. */
  readonly open: OpenRow | null;
  /** The rows at the end that the layout names as no records. Only in the last chunk, and only if there are any. */
  readonly footer?: readonly FooterRow[];
};

/** One record with its exact text, read again for a person who corrects it. */
export type RawRecord = {
  /** As in CsvRecord. 0 is the header. */
  readonly record: number;
  readonly line: number;
  /** The text of the record as it is in the file, without its line break. */
  readonly raw: string;
  /** Its cells. Null if its quoting is faulty. */
  readonly cells: readonly string[] | null;
  /** The delimiter that the file was read with. */
  readonly delimiter: string;
};

/** The rows as they are in the file. */
export type RawRows = {
  readonly header: readonly string[];
  readonly delimiter: string;
  /**
   * WHATWG or iconv label. The rows can be written in the same encoding, so that the same layout can read
   * them.
   */
  readonly encoding: string;
  readonly rows: readonly (readonly string[])[];
};
