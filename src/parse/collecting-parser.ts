import { type CsvError, Parser } from 'csv-parse';

/**
 * csv-parse, with its records collected instead of queued: pulling them through a stream one by one costs more than a tenth of the
 * parsing.
 */
export class CollectingParser extends Parser {
  readonly records: string[][] = [];
  /** Bytes from the parser's start to the end of each record, its line break included. */
  readonly ends: number[] = [];
  /** Of csv-parse, which does not declare it. */
  declare readonly api: {
    readonly state: { readonly record: readonly string[]; expectedRecordLength: number };
    __onRecord(push: (record: string[]) => void): unknown;
  };

  constructor(delimiter: string, quote: '"' | null) {
    super({
      delimiter,
      quote,
      escape: quote,
      // Named, so that they may be mixed: left out, csv-parse takes the first it meets for all.
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
    });
    // csv-parse makes an error, with a copy of the row, of each row that is not as wide as the first, and throws it away: 36 µs a row. So
    // every row is as wide as it expects.
    const { api } = this;
    const onRecord = api.__onRecord;
    api.__onRecord = (push) => {
      api.state.expectedRecordLength = api.state.record.length;
      return onRecord.call(api, push);
    };
    // The error comes through the callbacks below; without a listener it would end the process too.
    this.on('error', () => {});
  }

  override push(record: string[] | null): boolean {
    if (record === null) return super.push(null);
    this.records.push(record);
    this.ends.push(this.info.bytes);
    return true;
  }

  /** @returns what is wrong with the record after the last one collected; null when the bytes were taken whole. */
  feed(bytes: Uint8Array): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.write(bytes, (error) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }

  /** Ends the text. @returns as `feed`. */
  finish(): Promise<CsvError | null> {
    return new Promise((resolve) => {
      this.end((error?: Error | null) => resolve((error as CsvError | null | undefined) ?? null));
    });
  }
}
