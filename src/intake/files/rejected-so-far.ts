import { FileHeld } from '../../core/held/file-held.ts';
import type { RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';

/** Reading can stop once this many rows were rejected and they are most of the rows. */
const MIN_ROWS = 10_000;
const MIN_SHARE = 0.5;

/**
 * Stops reading a file that is unusable long before its end. Each rejected row is stored with its reason
 * until the whole file has been judged. Without this limit, a file with no usable row would fill the database
 * with a hundred times its size first.
 */
export class RejectedSoFar {
  readonly #source: string;
  readonly #maxShare: number;
  #rowsRead = 0;
  #rejected = 0;
  readonly #byCode = new Map<string, number>();

  constructor({ source, maxRejectedShare }: { readonly source: string; readonly maxRejectedShare: number }) {
    this.#source = source;
    this.#maxShare = Math.max(MIN_SHARE, maxRejectedShare);
  }

  /** Adds the counts of a batch. @throws FileHeld `too_many_rejected` if most rows so far were rejected. */
  take({
    rowsRead,
    rejected,
  }: {
    readonly rowsRead: number;
    readonly rejected: readonly RejectedRow[];
  }): void {
    this.#rowsRead += rowsRead;
    for (const { code, rowCount } of rejected) {
      this.#rejected += rowCount;
      this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + rowCount);
    }
    const last = rejected.at(-1);
    const isMost = this.#rejected >= MIN_ROWS && this.#rejected > this.#rowsRead * this.#maxShare;
    if (!isMost || last === undefined) return;
    const [commonest] = [...this.#byCode].sort(([, one], [, other]) => other - one);
    throw new FileHeld({
      code: 'too_many_rejected',
      message: `${this.#rejected} of the first ${this.#rowsRead} rows cannot be used (most common: ${commonest?.[0]}, ${plural(commonest?.[1] ?? 0, 'row')}; the last is on line ${last.line}: ${last.code}). Reading stopped there.`,
      help: `Correct the export or its layout. To read such files to their end, set sources.${this.#source}.limits.max_rejected_share: 1.`,
    });
  }
}
