import { type RawBuilder, sql } from 'kysely';

/** Packages write times such as 1970 or 1985 for all of their files. */
const EARLIEST_EXPORT = '2000-01-01T00:00:00Z';

/** SQL for the time by which file `f` was written: it was read after that, and stored if the store says when. */
export const EXPORTED_AT = sql`
      least(case when f.modified_at >= ${sql.lit(EARLIEST_EXPORT)}::timestamptz then f.modified_at end,
        f.first_seen_at)`;

/** The same for a file that is read now. */
export function exportedAtMs(modifiedAt: Date | null): number {
  const now = Date.now();
  const stored = modifiedAt?.getTime() ?? now;
  return stored < Date.parse(EARLIEST_EXPORT) ? now : Math.min(stored, now);
}

/**
 * Time by which something may seem to have happened after its export. The local times of two zones differ by up to 26
 * hours (UTC−12, UTC+14), so a wrong zone or a clock that is fast is not mistaken for a wrong date. Day and month that
 * were swapped differ by a month or so.
 */
export const LATEST_HOURS = 26;

/** SQL for the latest time that an export of this time may state. */
export function latestTime(exportedAt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${exportedAt} + ${sql.lit(`${LATEST_HOURS} hours`)}::interval`;
}
