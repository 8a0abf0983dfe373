import { type Database, rowOf } from '../db/statement.ts';

export type SharedRateLimiterOptions = {
  /** Limit of the account, for all processes together. 0 means no limit. */
  readonly requestsPerSecond: number;
  /**
   * A run has priority. A backfill uses what runs leave, and at most a tenth of the limit while a run is
   * active.
   */
  readonly priority: 'run' | 'backfill';
};

/**
 * Waits for its place in the queue of this process, then takes a turn among all processes of the account.
 *
 * @param signal ends the wait in the queue.
 * @returns the time until the turn, in milliseconds.
 */
export type TakeTurn = (signal: AbortSignal) => Promise<number>;

/**
 * Turns are taken in batches that cover at most this time, so that a fast gate does not query the database for
 * each turn.
 */
const BATCH_MS = 50;
/** A run that has taken a turn within this time counts as active. */
const RUN_AT_WORK_MS = 2_000;
/**
 * While a run is active, a backfill takes one of this number of turns, so the run is at most a tenth slower.
 */
const BACKFILL_ONE_IN = 10;
/** How soon a backfill that got no turn tries again. */
const ASK_AGAIN_MS = 200;
/** If the queue appears to be longer than this, the clock of the database was set back. */
const LONGEST_LINE_MS = 60_000;
/** A slow limit makes a long queue: this number of processes may wait for a turn each. */
const LONGEST_LINE = 100;

/**
 * Creates the rate limiter that all processes of an account share. It hands out turns at an even pace, by the
 * clock of the database. A process takes only as many turns as requests wait for one. A turn that found no
 * request would be used later, together with those of other processes, and exceed the pace.
 */
export function createSharedRateLimiter(db: Database, options: SharedRateLimiterOptions): TakeTurn {
  return createLimiter(options.requestsPerSecond, (batch) => takeTurns(db, { ...options, ...batch }));
}

/** The own limit of a backfill. */
export type BackfillLimit = {
  readonly backfillId: string;
  /** For all processes that post its orders together. 0 means that it has no limit of its own. */
  readonly requestsPerSecond: number;
};

/**
 * Creates the rate limiter of a backfill: the limit of the account, at the priority of a backfill, and its own
 * limit, which all processes that post its orders share too. Waits for the own turn first, so that it does not
 * take a turn of the account that it cannot use yet.
 */
export function createBackfillRateLimiter(
  db: Database,
  options: BackfillLimit & { readonly accountRequestsPerSecond: number },
): TakeTurn {
  const { backfillId, requestsPerSecond, accountRequestsPerSecond } = options;
  const takeOwn = createLimiter(requestsPerSecond, (batch) =>
    takeBackfillTurns(db, { backfillId, ...batch }),
  );
  const takeShared = createSharedRateLimiter(db, {
    requestsPerSecond: accountRequestsPerSecond,
    priority: 'backfill',
  });
  return async (signal) => {
    await rest(await takeOwn(signal), signal);
    return takeShared(signal);
  };
}

/** Turns that follow each other at this distance. */
type Batch = { readonly gapMs: number; readonly count: number };

/**
 * @param take reserves a batch of turns. Resolves to the time until the first of them, in milliseconds, or to
 * null if none is given now.
 */
function createLimiter(requestsPerSecond: number, take: (batch: Batch) => Promise<number | null>): TakeTurn {
  if (requestsPerSecond === 0) return async () => 0;
  const gapMs = 1_000 / requestsPerSecond;
  const largest = Math.max(1, Math.floor(BATCH_MS / gapMs));
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let left = 0;
  let nextAt = 0;

  async function next(signal: AbortSignal): Promise<number> {
    while (left === 0 && !signal.aborted) {
      const count = Math.min(largest, waiting);
      // If the database is unreachable, claims report it. Until then this process keeps the pace on its own.
      const waitMs = await take({ gapMs, count }).catch(() => gapMs);
      if (waitMs !== null) {
        left = count;
        nextAt = performance.now() + waitMs;
      } else {
        await rest(ASK_AGAIN_MS, signal);
      }
    }
    if (signal.aborted) return 0;
    left -= 1;
    const waitMs = Math.max(0, nextAt - performance.now());
    nextAt += gapMs;
    return waitMs;
  }

  return (signal) => {
    waiting += 1;
    const turn = line
      .then(() => next(signal))
      .finally(() => {
        waiting -= 1;
      });
    // The next request asks only once this turn has come.
    line = turn.then((waitMs) => rest(waitMs, signal));
    return turn;
  };
}

function rest(waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, waitMs);
    signal.addEventListener('abort', done);
  });
}

/** @returns as `createLimiter` wants it: null for a backfill that must wait for runs. */
async function takeTurns(
  db: Database,
  { priority, gapMs, count }: SharedRateLimiterOptions & Batch,
): Promise<number | null> {
  const isRun = priority === 'run';
  const takenMs = gapMs * count;
  const backfillGapMs = takenMs * BACKFILL_ONE_IN;
  const row = await rowOf<{ wait_ms: number }>(db)`
    with lost_in_a_crash as materialized (select set_config('synchronous_commit', 'off', true)),
    now as materialized (select clock_timestamp() as at from lost_in_a_crash)
    insert into ops.request_turns as t (next_turn_at, run_turn_at, backfill_turn_at)
    select at + ${takenMs} * interval '1 millisecond', case when ${isRun} then at end,
      case when not ${isRun} then at end
    from now
    on conflict (only_row) do update
    set next_turn_at = case
          when t.next_turn_at > clock_timestamp() + ${longestLineMs(takenMs)} * interval '1 millisecond'
            then clock_timestamp()
          else greatest(t.next_turn_at, clock_timestamp()) end + ${takenMs} * interval '1 millisecond',
        run_turn_at = case when ${isRun} then clock_timestamp() else t.run_turn_at end,
        backfill_turn_at = case when ${isRun} then t.backfill_turn_at else clock_timestamp() end
    where ${isRun} or t.run_turn_at is null
      or t.run_turn_at <= clock_timestamp() - ${RUN_AT_WORK_MS} * interval '1 millisecond'
      or t.backfill_turn_at is null
      or t.backfill_turn_at <= clock_timestamp() - ${backfillGapMs} * interval '1 millisecond'
    returning extract(epoch from next_turn_at - clock_timestamp()) * 1000
      - ${takenMs}::double precision as wait_ms`;
  return row === undefined ? null : Math.max(0, row.wait_ms);
}

async function takeBackfillTurns(
  db: Database,
  { backfillId, gapMs, count }: Batch & { readonly backfillId: string },
): Promise<number> {
  const takenMs = gapMs * count;
  const row = await rowOf<{ wait_ms: number }>(db)`
    with lost_in_a_crash as materialized (select set_config('synchronous_commit', 'off', true))
    insert into ops.backfill_turns as t (backfill_id, next_turn_at)
    select ${backfillId}::bigint, clock_timestamp() + ${takenMs} * interval '1 millisecond'
    from lost_in_a_crash
    on conflict (backfill_id) do update
    set next_turn_at = case
          when t.next_turn_at > clock_timestamp() + ${longestLineMs(takenMs)} * interval '1 millisecond'
            then clock_timestamp()
          else greatest(t.next_turn_at, clock_timestamp()) end + ${takenMs} * interval '1 millisecond'
    returning extract(epoch from next_turn_at - clock_timestamp()) * 1000
      - ${takenMs}::double precision as wait_ms`;
  return Math.max(0, row?.wait_ms ?? takenMs);
}

function longestLineMs(takenMs: number): number {
  return Math.max(LONGEST_LINE_MS, LONGEST_LINE * takenMs);
}
