import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import type { RejectedRow } from '../../core/record.ts';
import { plural } from '../../core/text/plural.ts';
import { type Run, throwIfDraining } from '../../ops/run.ts';
import { inSpan } from '../../ops/spans.ts';

type Batch = { readonly rowsRead: number; readonly rejected: readonly RejectedRow[] };

/** Reading can stop once this many rows were rejected and they are most of the rows. */
const MIN_ROWS = 10_000;
const MIN_SHARE = 0.5;

/**
 * Stages the batches of a file while it is being read. Stops reading a file that is unusable long before its end. Each
 * rejected row is stored with its reason until the whole file has been judged. Without this limit, a file with no usable
 * row would fill the database with a hundred times its size first.
 *
 * @param add stages a batch. Returns false if another reader has taken over the file.
 * @returns the number of rows of the file. Null if another reader has taken over the file.
 * @throws FileHeld `too_many_rejected`, and what reading the batches throws.
 */
export async function stageBatches<Given extends Batch>(
  run: Run,
  { name, limits }: SourceSettings,
  { batches, add }: { batches: AsyncIterable<Given>; add: (batch: Given) => Promise<boolean> },
): Promise<number | null> {
  const maxShare = Math.max(MIN_SHARE, limits.maxRejectedShare);
  const byCode = new Map<string, number>();
  let [rowsRead, rejected] = [0, 0];
  for await (const batch of batches) {
    throwIfDraining(run);
    rowsRead += batch.rowsRead;
    for (const { code, rowCount } of batch.rejected) {
      rejected += rowCount;
      byCode.set(code, (byCode.get(code) ?? 0) + rowCount);
    }
    const last = batch.rejected.at(-1);
    if (rejected >= MIN_ROWS && rejected > rowsRead * maxShare && last !== undefined) {
      const [commonest] = [...byCode].sort(([, one], [, other]) => other - one);
      throw new FileHeld({
        code: 'too_many_rejected',
        message: `${rejected} of the first ${rowsRead} rows cannot be used (most common: ${commonest?.[0]}, ${plural(commonest?.[1] ?? 0, 'row')}; the last is on line ${last.line}: ${last.code}). Reading stopped there.`,
        help: `Correct the export or its layout. To read such files to their end, set sources.${name}.limits.max_rejected_share: 1.`,
      });
    }
    const attributes = { 'influencer_sync.rows': batch.rowsRead };
    if (!(await inSpan({ name: 'batch', attributes }, () => add(batch)))) return null;
    run.progress.advance(0, batch.rowsRead);
  }
  return rowsRead;
}
