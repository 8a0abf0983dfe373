import { sql } from 'kysely';
import type { ReadFor } from '../../core/layout.ts';
import type { Database } from '../../db/connect.ts';

/** What is known of the files that the queue of a source announces. */
export type QueueState = {
  readonly source: string;
  readonly readFor: ReadFor;
  /** Announced files that no run has dealt with yet. */
  readonly announced: number;
  /** When the oldest of them was announced. Null if there are none. */
  readonly oldest: Date | null;
  /** When all names were last listed, which finds files that were never announced. Null if never. */
  readonly listedAt: Date | null;
};

/** Lists what is known of the queues of these sources. A source that no run has read yet is left out. */
export async function listQueues(db: Database, sources: readonly string[]): Promise<readonly QueueState[]> {
  const { rows } = await sql<Omit<QueueState, 'announced'> & { announced: string }>`
    select l.source, l.read_for as "readFor", count(a.uri) as announced, min(a.announced_at) as oldest,
      case when l.names_hash <> '' then l.listed_at end as "listedAt"
    from intake.listings l
    left join intake.announced_files a on a.source = l.source and a.read_for = l.read_for
    where l.source = any(${[...sources]}::text[])
    group by l.source, l.read_for
    order by l.source, l.read_for`.execute(db);
  return rows.map((row) => ({ ...row, announced: Number(row.announced) }));
}
