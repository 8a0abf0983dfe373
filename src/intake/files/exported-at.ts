import { type RawBuilder, sql } from 'kysely';
import { EARLIEST_EXPORT, LATEST_HOURS } from '../../core/time/exported-at.ts';

/** SQL for the time by which file `f` was written: it was read after that, and stored if the store says when. */
export const EXPORTED_AT = sql`
      least(case when f.modified_at >= ${sql.lit(EARLIEST_EXPORT)}::timestamptz then f.modified_at end,
        f.first_seen_at)`;

/** SQL for the latest time that an export of this time may state. */
export function latestTime(exportedAt: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${exportedAt} + ${sql.lit(`${LATEST_HOURS} hours`)}::interval`;
}
