import { type CsvError, type Parser, parse } from 'csv-parse';

/**
 * A parser of csv-parse that hands over its records piece by piece, through its `on_record`. Reading them one
 * by one from its stream costs more than a tenth of the parsing time.
 *
 * For each row whose width differs from the first, csv-parse creates and discards an error with a copy of the
 * row: 36 µs a row. Only files with a delimiter that has no scanner pay for that, since the scanner resumes
 * after each piece.
 */
export class CollectingParser {
  readonly records: (readonly string[])[] = [];
  /** For each record, the number of bytes from the parser's start to its end, including its line break. */
  readonly ends: number[] = [];
  readonly #parser: Parser;

  constructor(delimiter: string, quote: '"' | null) {
    this.#parser = parse({
      delimiter,
      quote,
      escape: quote,
      // Listed explicitly, so that they may be mixed. By default, csv-parse uses the first one it finds for
      // the whole text.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record: readonly string[], { bytes }) => {
        this.records.push(record);
        this.ends.push(bytes);
        return null; // The stream keeps nothing.
      },
    });
    // The callbacks below report errors. Without a listener, an error would also end the process.
    this.#parser.on('error', () => {});
  }

  /**
   * Parses more bytes. @returns the error of the record after the last one collected, or null if all bytes
   * were consumed.
   */
  feed(bytes: Uint8Array): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.#parser.write(bytes, (error) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }

  /** Ends the text. @returns like `feed`. */
  finish(): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.#parser.end((error?: Error | null) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }
}
