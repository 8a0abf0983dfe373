import { type RawBuilder, sql } from 'kysely';

/**
 * SQL for the jobs that have rows in a table, as rows with `job`. Jumps from job to job in an index that begins with it:
 * `distinct` would read every row.
 */
export function jobsOf(table: 'ops.runs' | 'ops.slots'): RawBuilder<unknown> {
  return sql`(
    with recursive jobs as (
      (select job from ${sql.table(table)} order by job limit 1)
      union all
      select (select n.job from ${sql.table(table)} n where n.job > j.job order by n.job limit 1) from jobs j where j.job is not null
    )
    select job from jobs where job is not null
  )`;
}
