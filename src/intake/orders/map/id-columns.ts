import { FileHeld } from '../../../core/held/file-held.ts';
import type { CsvRecord } from '../../../core/record.ts';
import type { Column, ResolvedHeader } from '../../layout/resolve-header.ts';
import { isBlank } from '../../values/clean-text.ts';

/** A header for which `group` and `order_id` are one column each, for the whole file. */
export type NamedHeader = ResolvedHeader & {
  /** Checks a row. Throws FileHeld `order_id_changes` if a preferred column is filled after all. */
  readonly check: (row: CsvRecord) => void;
};

/**
 * Limits for the trial: at most this many rows and characters wait for a row that fills the preferred column.
 */
const TRIAL_ROWS = 1_000;
const TRIAL_CHARS = 1024 ** 2;

/**
 * Chooses the column that identifies the orders of a file: the first of the candidates that any row fills. An
 * id prevents an order from being posted twice, so it must not change from row to row. If rows fill different
 * columns, the preferred one is used, and rows without it are rejected. The first row nearly always decides.
 * Otherwise rows wait, up to a limit. If a later row fills a preferred column, the file is held.
 */
export class IdColumns {
  readonly #header: ResolvedHeader;
  /**
   * Candidates for `group` and `order_id` in order of preference, and the index of the best one that a row
   * has filled so far.
   */
  readonly #lists: readonly { readonly candidates: readonly Column[]; best: number }[];
  #rows = 0;
  #chars = 0;

  constructor(header: ResolvedHeader) {
    this.#header = header;
    this.#lists = [header.ids.group, header.ids.orderId].map((candidates) => ({
      candidates,
      best: candidates.length,
    }));
  }

  /** Examines the next rows. @returns null while all rows so far must wait. */
  look(rows: readonly CsvRecord[]): NamedHeader | null {
    for (const { cells } of rows) {
      if (this.#isDecided()) break;
      this.#rows += 1;
      for (const cell of cells) this.#chars += cell.length;
      for (const list of this.#lists) {
        const filled = list.candidates.findIndex(({ index }) => !isBlank(cells[index] ?? ''));
        if (filled !== -1) list.best = Math.min(list.best, filled);
      }
    }
    const isEnough = this.#rows >= TRIAL_ROWS || this.#chars >= TRIAL_CHARS;
    return this.#isDecided() || isEnough ? this.choose() : null;
  }

  /** Chooses the columns according to the rows examined so far. */
  choose(): NamedHeader {
    const [group, orderId] = this.#lists.map(({ candidates, best }) => candidates[best] ?? candidates[0]);
    const passedOver = this.#lists.flatMap(({ candidates, best }) =>
      best === candidates.length ? [] : candidates.slice(0, best),
    );
    const fields = {
      ...this.#header.fields,
      group: group === undefined ? [] : [group],
      order_id: orderId === undefined ? [] : [orderId],
    };
    const check = ({ cells, line }: CsvRecord): void => {
      const other = passedOver.find(({ index }) => !isBlank(cells[index] ?? ''));
      if (other !== undefined) throw idChanges(other.name, orderId?.name ?? '', line);
    };
    return { ...this.#header, fields, check };
  }

  #isDecided(): boolean {
    return this.#lists.every(({ candidates, best }) => candidates.length <= 1 || best === 0);
  }
}

function idChanges(preferred: string, chosen: string, line: number): FileHeld {
  return new FileHeld({
    code: 'order_id_changes',
    message: `Column "${preferred}" is blank in the first ${TRIAL_ROWS} rows, so "${chosen}" identifies their orders, but "${preferred}" is filled on line ${line}. One file cannot use two columns.`,
    help: `Export the file again, with "${preferred}" filled or blank on all rows.`,
  });
}
