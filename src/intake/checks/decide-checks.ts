import type { CheckFinding } from '../../core/checks/check-result.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { execute, rowOf, rowsOf } from '../../db/statement.ts';

export type AcknowledgedFinding = Pick<CheckFinding, 'findingId' | 'source' | 'uri' | 'check' | 'message'> & {
  readonly sourceFileId: string;
  readonly verdict: 'warn' | 'held';
};

/** Records that a person accepts the findings. @returns those findings that were still open. */
export async function acknowledgeFindings(
  trx: DatabaseTransaction,
  options: {
    readonly findingIds: readonly string[];
    readonly reason: string;
    readonly acknowledgedBy: string;
  },
): Promise<readonly AcknowledgedFinding[]> {
  const { findingIds, reason, acknowledgedBy } = options;
  const rows = await rowsOf<AcknowledgedFinding>(trx)`
    update intake.check_findings g
    set acknowledged_at = clock_timestamp(), acknowledged_by = ${acknowledgedBy},
      acknowledge_reason = ${reason}
    from intake.source_files f
    where g.finding_id = any(${[...findingIds]}::bigint[]) and g.acknowledged_at is null
      and f.source_file_id = g.source_file_id
    returning g.finding_id as "findingId", g.source_file_id as "sourceFileId", g.source, f.uri,
      g.check_name as check, g.message,
      g.verdict`;
  return rows.toSorted((one, other) => Number(one.findingId) - Number(other.findingId));
}

/** Returns those of the given files that a check still holds, with the findings. */
export async function listStillHeld(
  trx: DatabaseTransaction,
  sourceFileIds: readonly string[],
): Promise<readonly { readonly sourceFileId: string; readonly findingId: string }[]> {
  return rowsOf<{ sourceFileId: string; findingId: string }>(trx)`
    select source_file_id as "sourceFileId", finding_id as "findingId" from intake.check_findings
    where source_file_id = any(${[...sourceFileIds]}::bigint[]) and verdict = 'held'
      and acknowledged_at is null
    order by finding_id`;
}

/**
 * Records a date on which unusual numbers of orders are expected. If the date exists, it gets the new name.
 * @returns its former name, or null if it is new.
 */
export async function addExpectedDate(
  trx: DatabaseTransaction,
  date: {
    readonly day: string;
    readonly name: string;
    readonly source: string | null;
    readonly createdBy: string;
  },
): Promise<string | null> {
  const { day, name, source, createdBy } = date;
  const before = await rowOf<{ name: string }>(trx)`
    select name from intake.expected_dates
    where day = ${day}::date and source is not distinct from ${source}::text for update`;
  await execute(trx)`
    insert into intake.expected_dates (day, source, name, created_by)
    values (${day}::date, ${source}::text, ${name}, ${createdBy})
    on conflict (day, coalesce(source, '')) do update set name = excluded.name,
    created_by = excluded.created_by`;
  return before?.name ?? null;
}
