import type pg from 'pg';
import { errorCode } from '../../core/error-code.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { currentPhase, type Phase } from '../phase.ts';
import { requestCancel, type WireClient } from './cancel-request.ts';
import { isConnectionLost } from './connection-lost.ts';

/**
 * Ensures that no statement runs forever. A statement is cancelled in the server if it takes longer than its
 * phase allows, waits too long for a lock, or its run has to end. If the server does not react to the cancel
 * request, the connection is cut.
 *
 * A statement that takes a few seconds may be working, may wait for a lock, or its server may be gone
 * silently (packets dropped by a firewall, a machine switched off). TCP takes a quarter of an hour to notice
 * that. So the watch queries the lock waits on a connection of its own. An answer proves that the server is
 * alive. If two queries in a row get no answer, it is not, and all connections are cut, so that their
 * statements fail.
 */
export type StatementWatch = {
  /** Registers a statement that starts. */
  begin(client: WireClient, text: string): Statement;
  end(statement: Statement): void;
  /** Replaces the error of a statement by an explanation if this watch ended it. */
  explain(statement: Statement, error: unknown): unknown;
  /** Cancels all statements in the server before the process exits. */
  cancelAll(): Promise<void>;
  stop(): Promise<void>;
};

type Statement = {
  readonly client: WireClient;
  readonly text: string;
  readonly phase: Phase;
  /** Name of the phase when the statement started. */
  readonly phaseName: string;
  readonly beganAt: number;
  drainedAt: number | null;
  wait: (LockWait & { readonly since: number }) | null;
  /** Why and when its end was requested. Null if it was not. */
  ending: { readonly why: 'limit' | 'lock' | 'draining' | 'abandoned'; readonly at: number } | null;
};

type StatementWatchOptions = {
  /** Time limit of statements whose phase sets none. */
  readonly limitMs: number;
  /** Identifies this process in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Opens a connection outside of the pool. */
  readonly connectBeside: () => Promise<pg.Client>;
  /** Cuts all connections, because the server does not answer. */
  readonly onUnreachable: (error: Error) => void;
};

const CHECK_EVERY_MS = 250;
/** Few statements take longer. For those, the extra query is affordable. */
const LOOK_AFTER_MS = 3_000;
const LOOK_EVERY_MS = 3_000;
/** A server that refuses the connection or the query is alive, so it need not be queried often. */
const LOOK_AGAIN_AFTER_REFUSAL_MS = 30_000;
const LOOK_TIMEOUT_MS = 5_000;
/** A single query may be lost when a pooler or a proxy restarts. */
const UNANSWERED_AT_MOST = 2;
/**
 * Time that a statement has left once its run has to end. Most finish within it, and supervisors usually wait
 * for half a minute.
 */
const DRAIN_LIMIT_MS = 10_000;
/** A server that is alive ends a statement shortly after the request. */
const CUT_AFTER_MS = 5_000;

export function watchStatements(options: StatementWatchOptions): StatementWatch {
  const { limitMs, applicationName, connectBeside, onUnreachable } = options;
  const running = new Set<Statement>();
  let beside: pg.Client | null = null;
  let isLooking = false;
  let lookAt = 0;
  let unanswered = 0;

  function endEarly(statement: Statement, why: NonNullable<Statement['ending']>['why']): Promise<void> {
    statement.ending = { why, at: performance.now() };
    return requestCancel(statement.client);
  }

  function check(): void {
    const now = performance.now();
    let longestMs = 0;
    for (const statement of running) {
      if (statement.ending !== null) {
        if (now - statement.ending.at > CUT_AFTER_MS)
          cut(statement.client, unanswering(statement.ending.at - statement.beganAt));
        continue;
      }
      longestMs = Math.max(longestMs, now - statement.beganAt);
      const why = whyToEnd(statement, now, limitMs);
      if (why !== null) void endEarly(statement, why);
    }
    if (longestMs >= LOOK_AFTER_MS && now >= lookAt && !isLooking) void look();
    else if (longestMs === 0 && beside !== null && !isLooking) closeBeside();
  }

  /** Queries which sessions wait for locks, and thereby checks whether the server answers. */
  async function look(): Promise<void> {
    isLooking = true;
    const askedAt = performance.now();
    try {
      beside ??= await connectBeside();
      const waits = await findLockWaits(beside, applicationName, LOOK_TIMEOUT_MS);
      unanswered = 0;
      for (const statement of running) noteWait(statement, waits, askedAt);
      lookAt = performance.now() + LOOK_EVERY_MS;
    } catch (error) {
      closeBeside();
      const isRefused = /^[0-9A-Z]{5}$/.test(errorCode(error) ?? '');
      unanswered = isRefused ? 0 : unanswered + 1;
      lookAt = isRefused ? performance.now() + LOOK_AGAIN_AFTER_REFUSAL_MS : 0;
      if (unanswered >= UNANSWERED_AT_MOST) {
        unanswered = 0;
        onUnreachable(unanswering(performance.now() - askedAt + LOOK_AFTER_MS));
      }
    } finally {
      isLooking = false;
    }
  }

  function closeBeside(): void {
    const client = beside;
    beside = null;
    if (client !== null) (client as unknown as WireClient).connection.stream.destroy();
  }

  const timer = setInterval(check, CHECK_EVERY_MS);
  timer.unref();
  return {
    begin(client, text) {
      const phase = currentPhase();
      const phaseName = typeof phase.name === 'string' ? phase.name : phase.name();
      const statement = { client, text, phase, phaseName, beganAt: performance.now() };
      const watched: Statement = { ...statement, drainedAt: null, wait: null, ending: null };
      running.add(watched);
      return watched;
    },
    end: (statement) => void running.delete(statement),
    explain: (statement, error) => explainEnd(statement, error, limitMs),
    async cancelAll() {
      await Promise.all([...running].map((statement) => endEarly(statement, 'abandoned')));
    },
    async stop() {
      clearInterval(timer);
      closeBeside();
    },
  };
}

function whyToEnd(
  statement: Statement,
  now: number,
  limitMs: number,
): NonNullable<Statement['ending']>['why'] | null {
  const { phase, beganAt, wait } = statement;
  if (phase.abandoned?.aborted === true) return 'abandoned';
  if (phase.draining?.aborted === true) statement.drainedAt ??= now;
  if (statement.drainedAt !== null && now - statement.drainedAt > DRAIN_LIMIT_MS) return 'draining';
  if (wait !== null && now - wait.since > phase.lockLimitMs) return 'lock';
  return now - beganAt > (phase.limitMs ?? limitMs) ? 'limit' : null;
}

function noteWait(statement: Statement, waits: readonly LockWait[], askedAt: number): void {
  const { client, text, phase, wait, beganAt } = statement;
  if (beganAt > askedAt) return;
  const found = waits.find(
    ({ pid, query }) => pid === client.processID || (query !== '' && text.startsWith(query)),
  );
  if (found === undefined) {
    statement.wait = null;
    return;
  }
  if (wait === null) phase.note(`Waiting for a lock of the database, held by ${found.holders}.`);
  statement.wait = { ...found, since: wait?.since ?? beganAt };
}

export function cut(client: WireClient, error: Error): void {
  client.connection.stream.destroy(error);
}

function unanswering(elapsedMs: number): Error {
  const message = `The database has not answered for ${Math.round(elapsedMs / 1000)} s.`;
  return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
}

/** SQLSTATE query_canceled and lock_not_available. */
const CANCELLED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';

function explainEnd(statement: Statement, error: unknown, limitMs: number): unknown {
  const { phase, phaseName, ending, wait } = statement;
  const code = errorCode(error);
  if (code === LOCK_NOT_AVAILABLE && wait !== null)
    return Object.assign(error as Error, { lockHolders: wait.holders });
  if (ending === null || (code !== CANCELLED && !isConnectionLost(error))) return error;
  switch (ending.why) {
    case 'limit':
      return tooSlow(phaseName, phase.limitMs ?? limitMs, {
        isSetting: phase.limitMs === null,
        cause: error,
      });
    case 'lock':
      return lockNotFree({
        phaseName,
        waitedMs: ending.at - (wait?.since ?? ending.at),
        holders: wait?.holders ?? 'another session',
        cause: error,
      });
    case 'draining':
    case 'abandoned':
      return phase.draining?.reason instanceof KnownError ? phase.draining.reason : stopped(phaseName, error);
  }
}

const GOES_ON =
  'The statement changed nothing. The next run continues from what the ledger has recorded, and posts nothing twice.';

function tooSlow(
  phaseName: string,
  limitMs: number,
  { isSetting, cause }: { isSetting: boolean; cause: unknown },
): KnownError {
  const limit = limitMs >= 120_000 ? `${Math.round(limitMs / 6_000) / 10} minutes` : `${limitMs / 1000} s`;
  return new KnownError({
    code: 'statement_too_slow',
    message: `A statement took longer than ${limit}, so the database cancelled it (phase: ${phaseName}).`,
    help: `${isSetting ? 'If the database is large or slow, raise database.statement_minutes in pipeline.yaml. ' : ''}Check the load of the server, and that its tables are vacuumed and analysed: npx influencer-sync doctor`,
    safe: GOES_ON,
    cause,
  });
}

function lockNotFree(told: {
  readonly phaseName: string;
  readonly waitedMs: number;
  readonly holders: string;
  readonly cause: unknown;
}): KnownError {
  return new KnownError({
    code: 'lock_timed_out',
    message: `A lock of the database was not released for ${Math.round(told.waitedMs / 1000)} s (phase: ${told.phaseName}). It is held by ${told.holders}.`,
    help: 'Wait until that session ends, or end it: select pg_terminate_backend(<its pid>). Then run the command again.',
    safe: GOES_ON,
    cause: told.cause,
  });
}

function stopped(phaseName: string, cause: unknown): KnownError {
  return new KnownError({
    code: 'interrupted',
    message: `The run was told to stop, so the database cancelled its statement (phase: ${phaseName}).`,
    help: 'Run the job again: it continues where this run stopped.',
    safe: GOES_ON,
    exitCode: EXIT.interrupted,
    cause,
  });
}

/** A session of this process that waits for a lock. */
type LockWait = {
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

/** Lists sessions of this process that wait for a lock, with the holders. */
async function findLockWaits(
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
