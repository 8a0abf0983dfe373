import type { PipelineConfig } from './config.ts';

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
