import { sql, type Transaction } from 'kysely';
import type { Purpose } from '../../core/layout.ts';
import type { HoldReason } from '../../core/source.ts';
import { plural } from '../../core/text/plural.ts';
import { countsOf, type Database } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import type { Run } from '../../ops/run.ts';
import type { FileRead } from '../files/fence.ts';
import { judgeRows } from '../files/judge-rows.ts';
import type { StagedFile } from '../files/replace-rows.ts';
import { type SealedRead, type SealReadOptions, sealRead } from '../files/seal-read.ts';
import { stageFenced, stageRejected } from '../files/stage-leftovers.ts';
import { type LocatedRow, type MapRowsOptions, mapRows } from '../map/map-rows.ts';
import type { FileContent, Intake, Reading } from './intake-file.ts';
import { stageBatches } from './stage-batches.ts';

export type RowIntakeOptions<Row> = {
  readonly purpose: Purpose;
  /** Creates what reads the records of one file. */
  readonly open: (reading: Reading) => Pick<MapRowsOptions<Row>, 'open' | 'atEnd'>;
  /** Returns the reason to hold a file whose rows contradict each other or what earlier files state. */
  readonly judge: (trx: Transaction<DB>, file: StagedFile) => Promise<HoldReason | null>;
  /** Makes the rows of a file current, from `intake.staged_rows`. @returns the number of those that a newer file states. */
  readonly publish: (trx: Transaction<DB>, file: StagedFile) => Promise<number>;
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
    const file = { sourceFileId: read.sourceFileId, source: source.name, others };
    return sealRows(db, {
      ...read,
      runId,
      rowsRead,
      staged,
      passedOver,
      contentSha256: digest(),
      footer,
      source: source.name,
      usedAs: readFor,
      maxRejectedShare: source.limits.maxRejectedShare,
      judge: (trx) => judge(trx, file),
      publish: (trx) => publish(trx, file),
    });
  }
  return { purpose, take };
}

/** Stores rows of a file that is being read. @returns false if another reader has taken over the file. */
function stageRows(db: Database, read: FileRead, rows: readonly LocatedRow<unknown>[]): Promise<boolean> {
  return stageFenced(db, read, {
    rows,
    given: sql`line bigint, record bigint, content jsonb`,
    insert: sql`
      insert into intake.staged_rows (source_file_id, line_no, record_no, content)
      select f.source_file_id, g.line, g.record, g.content`,
  });
}

type SealRowsOptions = SealReadOptions & {
  readonly source: string;
  readonly staged: number;
  /** Number of rows that contain nothing relevant, by reason. */
  readonly passedOver: Readonly<Record<string, number>>;
  /** What the rows are called in messages, for example `clicks`. */
  readonly usedAs: string;
  readonly maxRejectedShare: number;
  readonly judge: (trx: Transaction<DB>) => Promise<HoldReason | null>;
  readonly publish: (trx: Transaction<DB>) => Promise<number>;
};

/**
 * Seals a file whose rows were staged, or holds it if they do not add up or too many of them are unusable.
 */
function sealRows(db: Database, options: SealRowsOptions) {
  const { sourceFileId, staged, passedOver, usedAs } = options;
  const passed = Object.values(passedOver).reduce((sum, rows) => sum + rows, 0);
  return sealRead<{ readonly used: number; readonly rejected: number }>(db, options, {
    settle: (trx) =>
      countsOf<'used' | 'rejected'>(trx)`
        select (select count(*) from intake.staged_rows where source_file_id = ${sourceFileId}::bigint)
          + ${passed}::bigint as used, (select coalesce(sum(row_count), 0) from intake.rejected_rows
            where source_file_id = ${sourceFileId}::bigint) as rejected`,
    findHoldReason: async (trx, totals) =>
      totals.used !== staged + passed
        ? {
            code: 'rows_do_not_add_up',
            message: `${plural(staged, 'row was', 'rows were')} to be stored, but ${totals.used - passed} ${totals.used - passed === 1 ? 'is' : 'are'}.`,
            help: 'Read the file again with --file. If the error persists, it is a bug: please report it.',
          }
        : ((await judgeRows(trx, { ...options, ...totals, usedAs: `of ${usedAs}` })) ??
          (await options.judge(trx))),
    measure: async (_trx, { rejected }) => ({ rejectedRows: rejected, orders: null, consent: null }),
    publish: async (trx, { used, rejected }) => {
      const older = await options.publish(trx);
      await trx.deleteFrom('intake.staged_rows').where('source_file_id', '=', sourceFileId).execute();
      return {
        other_rows: used,
        rows_older: older,
        rejected_rows: rejected,
        passed_over: JSON.stringify(passedOver),
      };
    },
  });
}
