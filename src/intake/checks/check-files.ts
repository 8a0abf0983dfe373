import type { SourceSettings } from '../../config/source-fields.ts';
import type { ReadFor } from '../../core/layout.ts';
import type { SourceFile } from '../../core/source.ts';
import type { Database } from '../../db/connect.ts';
import type { DatedFile } from './check.ts';
import type { FileCheck } from './check-file.ts';
import { createDater, judgeFile } from './judge-file.ts';
import { readExpectedDates, readHistory } from './read-history.ts';

/**
 * The checks of one source while a run reads its files. Later files are also compared with files that this
 * run has read.
 */
export type SourceChecks = {
  /** @param header returns the header of the file. Called once the file was read. */
  begin(file: SourceFile, header: () => readonly string[]): Promise<OpenCheck>;
  /**
   * Seals several files. If none was sealed, the files that were learned meanwhile are forgotten.
   *
   * @param seal returns the ids of the files that were sealed, or null.
   */
  attempt(seal: () => Promise<readonly string[] | null>): Promise<readonly string[] | null>;
};

export type OpenCheck = {
  readonly check: FileCheck;
  /** Adds the file to the history that later files are compared with. */
  readonly learn: () => void;
};

/**
 * Opens the checks of a source. Reads the statistics of earlier files only when the first file is read,
 * because most runs find no new file.
 */
export function openSourceChecks(
  db: Database,
  { source, readFor }: { readonly source: SourceSettings; readonly readFor: ReadFor },
): SourceChecks {
  const { name, expectations } = source;
  const place = createDater(expectations.timeZone);
  let reading: ReturnType<typeof read> | null = null;
  let earlier: DatedFile[] = [];

  async function read() {
    earlier = (await readHistory(db, { source: name, readFor })).map(place);
    return readExpectedDates(db, name);
  }

  /** Inserts a file behind those that arrived before it. Files need not be read in the order of their arrival. */
  function add(seen: DatedFile): void {
    let [low, high] = [0, earlier.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(earlier[middle]?.arrivedAt) > seen.arrivedAt.getTime()) high = middle;
      else low = middle + 1;
    }
    earlier.splice(low, 0, seen);
  }

  return {
    async begin(file, header) {
      reading ??= read();
      const expectedDates = await reading;
      let judged: DatedFile | null = null;
      return {
        check: {
          arrivedAt: file.modifiedAt ?? null,
          sizeBytes: file.sizeBytes,
          header,
          judge(statistics, { isReread }) {
            judged = place(statistics);
            return judgeFile({ seen: judged, earlier, expectations, expectedDates, isReread });
          },
        },
        learn() {
          if (judged !== null) add(judged);
        },
      };
    },
    async attempt(seal) {
      reading ??= read();
      await reading;
      const before = [...earlier];
      let sealed: readonly string[] | null = null;
      try {
        sealed = await seal();
        return sealed;
      } finally {
        if (sealed === null) earlier = before;
      }
    },
  };
}
