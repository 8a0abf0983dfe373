import type pg from 'pg';

/** A session of this process that waits for a lock. */
export type LockWait = {
  /**
   * Id of the server process. Behind a pooler this process cannot interpret it, and compares the text of the
   * statement instead.
   */
  readonly pid: number;
  /** The beginning of its statement. */
  readonly query: string;
  /** The holders of the lock, for people: pid, application_name, since when. */
  readonly holders: string;
};

/**
 * Without pg_read_all_stats, a role sees only the process id and the name of other roles' sessions, and no
 * times.
 */
const QUESTION = `
  select w.pid, left(w.query, 200) as query, h.pid as holder, h.usename as role, h.application_name as name,
    to_char(coalesce(h.xact_start, h.state_change, h.backend_start) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since, h.state
  from pg_stat_activity w
  cross join lateral (select distinct unnest(pg_blocking_pids(w.pid)) as pid) b
  join pg_stat_activity h on h.pid = b.pid
  where w.application_name = $1 and w.datname = current_database() and w.wait_event_type = 'Lock'
  order by w.pid, h.xact_start nulls last`;

type Row = {
  pid: number;
  query: string;
  holder: number;
  role: string | null;
  name: string | null;
  since: string | null;
  state: string | null;
};

/**
 * Lists sessions of this process that wait for a lock, with the holders. @throws if the server refuses, or
 * does not answer in time.
 */
export async function findLockWaits(
  client: pg.Client,
  applicationName: string,
  timeoutMs: number,
): Promise<readonly LockWait[]> {
  const { rows } = await client.query<Row>({
    text: QUESTION,
    values: [applicationName],
    query_timeout: timeoutMs,
  } as pg.QueryConfig);
  const byPid = Map.groupBy(rows, ({ pid }) => pid);
  return [...byPid].map(([pid, held]) => ({
    pid,
    query: held[0]?.query ?? '',
    holders: held.map(describe).join(' and '),
  }));
}

function describe({ holder, role, name, since, state }: Row): string {
  const who = name === null || name === '' ? 'no application_name' : `application_name "${name}"`;
  const facts = [who, ...(role === null ? [] : [`role ${role}`]), ...(state === null ? [] : [state])];
  return `process ${holder} (${facts.join(', ')}${since === null ? '' : `, since ${since}`})`;
}
