import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';
import { type Run, throwIfDraining } from '../../ops/run.ts';
import { inSpan } from '../../ops/spans.ts';

type Batch = { readonly rowsRead: number; readonly rejected: readonly RejectedRow[] };

/**
 * Stages the batches of a file while it is being read.
 *
 * @param add stages a batch. Returns false if another reader has taken over the file.
 * @returns the number of rows of the file. Null if another reader has taken over the file.
 * @throws FileHeld `too_many_rejected`, and what reading the batches throws.
 */
export async function stageBatches<Given extends Batch>(
  run: Run,
  { name, limits }: SourceSettings,
  {
    batches,
    add,
  }: { readonly batches: AsyncIterable<Given>; readonly add: (batch: Given) => Promise<boolean> },
): Promise<number | null> {
  const rejectedSoFar = new RejectedSoFar({ source: name, ...limits });
  let rowsRead = 0;
  for await (const batch of batches) {
    throwIfDraining(run);
    rejectedSoFar.take(batch);
    const attributes = { 'influencer_sync.rows': batch.rowsRead };
    if (!(await inSpan({ name: 'batch', attributes }, () => add(batch)))) return null;
    rowsRead += batch.rowsRead;
    run.progress.advance(0, batch.rowsRead);
  }
  return rowsRead;
}

/** Reading can stop once this many rows were rejected and they are most of the rows. */
const MIN_ROWS = 10_000;
const MIN_SHARE = 0.5;

/**
 * Stops reading a file that is unusable long before its end. Each rejected row is stored with its reason
 * until the whole file has been judged. Without this limit, a file with no usable row would fill the database
 * with a hundred times its size first.
 */
class RejectedSoFar {
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
  take({ rowsRead, rejected }: Batch): void {
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
