import { sql, type Transaction } from 'kysely';
import type { HoldReason } from '../../core/source.ts';
import { plural } from '../../core/text/plural.ts';
import type { Database } from '../../db/connect.ts';
import { countsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import type { FileRead } from './fence.ts';
import { judgeRows } from './judge-rows.ts';
import { type SealedRead, type SealReadOptions, sealRead } from './seal-read.ts';
import { stageFenced } from './stage-leftovers.ts';

/** A row with its position in the file. */
export type StagedRow = { readonly line: number; readonly record: number; readonly content: unknown };

/** Stores rows of a file that is being read. @returns false if another reader has taken over the file. */
export function stageRows(db: Database, read: FileRead, rows: readonly StagedRow[]): Promise<boolean> {
  return stageFenced(db, read, {
    rows,
    given: sql`line bigint, record bigint, content jsonb`,
    insert: sql`
      insert into intake.staged_rows (source_file_id, line_no, record_no, content)
      select f.source_file_id, g.line, g.record, g.content`,
  });
}

export type SealRowsOptions = SealReadOptions & {
  readonly source: string;
  readonly staged: number;
  /** Number of rows that contain nothing relevant, by reason. */
  readonly passedOver: Readonly<Record<string, number>>;
  /** What the rows are called in messages, for example `clicks`. */
  readonly usedAs: string;
  readonly maxRejectedShare: number;
  /** Returns the reason to hold the file although every row can be used. */
  readonly judge: (trx: Transaction<DB>, sourceFileId: string) => Promise<HoldReason | null>;
  /** Makes the rows of `intake.staged_rows` take effect. @returns the number of those that a newer file states. */
  readonly publish: (trx: Transaction<DB>, sourceFileId: string) => Promise<number>;
};

type Totals = { readonly used: number; readonly rejected: number };

/**
 * Seals a file whose rows were staged, or holds it if they do not add up or too many of them are unusable.
 */
export function sealRows(db: Database, options: SealRowsOptions): Promise<SealedRead<Totals>> {
  const { sourceFileId, staged, passedOver, usedAs } = options;
  const passed = Object.values(passedOver).reduce((sum, rows) => sum + rows, 0);
  return sealRead<Totals>(db, options, {
    settle: async (trx) => {
      const counts = await countsOf<'used' | 'rejected'>(trx)`
        select (select count(*) from intake.staged_rows where source_file_id = ${sourceFileId}::bigint) + ${passed}::bigint as used,
          (select coalesce(sum(row_count), 0) from intake.rejected_rows where source_file_id = ${sourceFileId}::bigint) as rejected`;
      return counts;
    },
    findHoldReason: async (trx, totals) =>
      totals.used !== staged + passed
        ? {
            code: 'rows_do_not_add_up',
            message: `${plural(staged, 'row was', 'rows were')} to be stored, but ${totals.used - passed} ${totals.used - passed === 1 ? 'is' : 'are'}.`,
            help: 'Read the file again with --file. If the error persists, it is a bug: please report it.',
          }
        : ((await judgeRows(trx, { ...options, ...totals, usedAs: `of ${usedAs}` })) ??
          (await options.judge(trx, sourceFileId))),
    measure: async (_trx, { rejected }) => ({ rejectedRows: rejected, orders: null, consent: null }),
    publish: async (trx, { used, rejected }) => {
      const older = await options.publish(trx, sourceFileId);
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
