import type { Purpose } from '../../core/layout.ts';
import type { HoldReason } from '../../core/source.ts';
import type { Run } from '../../ops/run.ts';
import type { StagedFile } from '../files/replace-rows.ts';
import type { SealedRead } from '../files/seal-read.ts';
import { stageRejected } from '../files/stage-leftovers.ts';
import { type SealRowsOptions, sealRows, stageRows } from '../files/stage-rows.ts';
import { type MapRowsOptions, mapRows } from '../map/map-rows.ts';
import type { FileContent, Intake, Reading } from './intake-file.ts';
import { stageBatches } from './stage-batches.ts';

export type RowIntakeOptions<Row> = {
  readonly purpose: Purpose;
  /** Creates what reads the records of one file. */
  readonly open: (reading: Reading) => Pick<MapRowsOptions<Row>, 'open' | 'atEnd'>;
  /** Returns the reason to hold a file whose rows contradict each other or what earlier files state. */
  readonly judge: (
    trx: Parameters<SealRowsOptions['publish']>[0],
    file: StagedFile,
  ) => Promise<HoldReason | null>;
  /** Makes the rows of a file current, from `intake.staged_rows`. @returns the number of those that a newer file states. */
  readonly publish: (trx: Parameters<SealRowsOptions['publish']>[0], file: StagedFile) => Promise<number>;
};

/** Creates the intake for files whose rows are independent of each other: map → stage → seal. */
export function createRowIntake<Row>({ purpose, open, judge, publish }: RowIntakeOptions<Row>): Intake {
  async function take(
    run: Run,
    reading: Reading,
    { chunks, digest, footer, others, ...read }: FileContent,
  ): Promise<SealedRead<unknown>> {
    const { db, runId } = run;
    const { source, layout, otherLayouts } = reading;
    const { readFor } = purpose;
    const passedOver: Record<string, number> = {};
    let staged = 0;
    const rowsRead = await stageBatches(run, source, {
      batches: mapRows(chunks, { layout, readFor, otherLayouts, ...open(reading) }),
      async add(batch) {
        for (const [why, rows] of Object.entries(batch.passedOver))
          passedOver[why] = (passedOver[why] ?? 0) + rows;
        staged += batch.rows.length;
        return (
          (await stageRows(db, read, batch.rows)) && stageRejected(db, { ...read, runId }, batch.rejected)
        );
      },
    });
    if (rowsRead === null) return { kind: 'lost' };
    const file = (sourceFileId: string): StagedFile => ({ sourceFileId, source: source.name, others });
    return sealRows(db, {
      ...read,
      ...{ runId, rowsRead, staged, passedOver, contentSha256: digest(), footer },
      source: source.name,
      usedAs: readFor,
      maxRejectedShare: source.limits.maxRejectedShare,
      judge: (trx, sourceFileId) => judge(trx, file(sourceFileId)),
      publish: (trx, sourceFileId) => publish(trx, file(sourceFileId)),
    });
  }
  return { purpose, take };
}
