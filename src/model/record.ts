import type { PipelineConfig } from './config.ts';

/** One record of a delimited file, before it means anything. */
export type CsvRecord = {
  readonly cells: readonly string[];
  /** Physical line on which the record begins, 1-based, the header included. */
  readonly line: number;
  /** 1-based, the header and any preamble excluded. */
  readonly record: number;
};

/** A row that cannot be used. It is stored and shown, never dropped. */
export type RejectedRow = {
  /** Stable machine name of the problem, for example `bad_money`. */
  readonly code: string;
  /** Physical line on which the record begins, 1-based. */
  readonly line: number;
  readonly record: number;
  /** Header of the column at fault; null where the row as a whole is. */
  readonly column: string | null;
  /** The value at fault, cut to 200 characters, e-mail addresses masked. */
  readonly value: string | null;
  /** One sentence: what is wrong. */
  readonly reason: string;
  /** One sentence: how to fix it. */
  readonly help: string;
  /** Rows of the file it stands for: more than 1 when a whole order is rejected. */
  readonly rowCount: number;
};

/** What parsing hands to mapping: the records of one stretch of a file (some 100 kB of it), and the rows that are no records. */
export type CsvChunk = {
  /** Cells of the header row as written, the same in every chunk of a file. */
  readonly header: readonly string[];
  readonly records: readonly CsvRecord[];
  /** Rows that could not be read: bad quoting, another number of columns, the header once more. */
  readonly rejected: readonly RejectedRow[];
};

/** One record with its exact text, read again for a person who mends it. */
export type RawRecord = {
  /** As in CsvRecord; 0 is the header. */
  readonly record: number;
  readonly line: number;
  /** The text of the record as it stands in the file, without its line break. */
  readonly raw: string;
  /** Its cells; null where its quoting is broken. */
  readonly cells: readonly string[] | null;
  /** The delimiter that the file was read with. */
  readonly delimiter: string;
};

/** Rows of one version of a file, named by the record number of the first and how many they are (a whole order may be rejected). */
export type RawRowsRequest = {
  readonly config: PipelineConfig;
  /** Name of the source in pipeline.yaml. */
  readonly source: string;
  readonly uri: string;
  /** Pins the content: another version is not read. */
  readonly version: string;
  readonly records: readonly { readonly record: number; readonly rowCount: number }[];
};

/** The rows as they stand in the file. */
export type RawRows = {
  readonly header: readonly string[];
  readonly delimiter: string;
  /** WHATWG or iconv label, so that the rows can be written back in a form that the same layout reads. */
  readonly encoding: string;
  readonly rows: readonly (readonly string[])[];
};

/**
 * Reads rows from their file again, since rows are not stored. The pipeline makes one, from a source and a parser.
 *
 * @returns null when the file is gone or was replaced by another version.
 */
export type FetchRawRows = (request: RawRowsRequest) => Promise<RawRows | null>;
