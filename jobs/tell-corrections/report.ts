import type { DoubtDetails, RunReport } from '../../src/core/report.ts';
import { countOf, type Database, rowsOf } from '../../src/db/statement.ts';
import {
  countsBy,
  isOfRun,
  type NamedCount,
  readRunDoubts,
  sumOf,
} from '../../src/reports/runs/run-report.ts';
import { correctionsOf } from './decide-corrections.ts';
import type { TellCorrectionsSettings } from './settings.ts';

/** The result of a run of `tell-corrections`. `sumsAddUp` means that each changed order is counted once. */
export type CorrectionsReport = RunReport<'tell-corrections', CorrectionCounts, CorrectionDetails>;

/** Numbers of orders that changed after they were credited, unless the comment says otherwise. */
export type CorrectionCounts = {
  readonly corrections: number;
  /** Told by notes that the service accepted in this run. */
  readonly told: number;
  /** Notes accepted in this run. */
  readonly notes: number;
  readonly told_before: number;
  /** In notes that are to be written; in a plan, those that a run would write. */
  readonly ready: number;
  /** The deal has a note of today already, or the note is full: they are told on the next day. */
  readonly waiting: number;
  /** What the order comes to now is not known. */
  readonly held: number;
  /** The service did not say which deal it credited. */
  readonly no_deal: number;
  readonly refused: number;
  readonly in_doubt: number;
  readonly written_off: number;
};

export type CorrectionDetails = DoubtDetails & {
  readonly told: TellCorrectionsSettings['told'];
  readonly refusals: readonly { readonly reason: string; readonly orders: number }[];
};

export async function reportCorrections(
  db: Database,
  { runId, job }: { runId: string; job: TellCorrectionsSettings },
): Promise<CorrectionsReport> {
  const rows = await rowsOf<NamedCount>(db)`
    select case standing when 'rejected' then 'refused' else standing end as name, count(*)::integer as count
    from ${correctionsOf(job, runId)} c group by 1`;
  const notes = await countOf(db)`
    select count(*) as notes from ledger.entries e
    where e.job = ${job.name} and e.effect in ('note', 'task') and e.state = 'accepted' and ${isOfRun(runId)}`;
  const refusals = await rowsOf<{ reason: string; orders: number }>(db)`
    select coalesce(e.state_reason, 'no reason was given') as reason,
      sum(jsonb_array_length(e.details -> 'corrections'))::integer as orders
    from ledger.entries e
    where e.job = ${job.name} and e.effect in ('note', 'task') and e.state = 'rejected'
    group by 1
    order by 2 desc, 1`;
  const doubts = await readRunDoubts(db, { job: job.name });
  const counts: CorrectionCounts = {
    corrections: sumOf(rows),
    notes,
    ...countsBy(rows, ['told', 'told_before', 'ready', 'waiting', 'held', 'no_deal']),
    ...countsBy(rows, ['refused', 'in_doubt', 'written_off']),
  };
  const { corrections, notes: _, ...parts } = counts;
  return {
    kind: 'tell-corrections',
    counts,
    amounts: [],
    sumsAddUp: corrections === Object.values(parts).reduce((sum, part) => sum + part, 0),
    doubts: doubts.count,
    needsAttention: counts.refused + counts.no_deal > 0,
    details: { ...doubts.details, told: job.told, refusals },
  };
}
