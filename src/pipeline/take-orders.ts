import { createStager } from '../intake/create-stager.ts';
import { sealFile } from '../intake/seal-file.ts';
import type { SealedRead } from '../intake/seal-read.ts';
import { mapOrders } from '../map/map-orders.ts';
import type { FileContent, Intake, Reading } from './intake-file.ts';
import { type Run, throwIfDraining } from './run.ts';

/** A file's rows become orders: group → map → stage → seal. */
export const takeOrders: Intake = { purpose: { readFor: 'orders' }, take };

async function take(
  run: Run,
  { source, layout, otherLayouts }: Reading,
  { chunks, digest, ...read }: FileContent,
): Promise<SealedRead<unknown>> {
  const { db, runId, progress } = run;
  const sums = Object.keys(layout.grouping.sum).length > 0;
  const stager = createStager(db, { ...read, runId, sums });
  let rowsRead = 0;
  for await (const batch of mapOrders(chunks, { layout, source, otherLayouts })) {
    throwIfDraining(run);
    if (!(await stager.add(batch))) return { kind: 'lost' };
    rowsRead += batch.rowsRead;
    progress.advance(0, batch.rowsRead);
  }
  if ((await stager.finish()) === null) return { kind: 'lost' };
  const { maxRejectedShare, maxCancelledShare } = source.limits;
  const thresholds = { maxRejectedShare, maxCancelledShare };
  return sealFile(db, { ...read, runId, rowsRead, contentSha256: digest(), sums, thresholds });
}
