import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What a process is doing when it queries the database: the time limits of its statements, and the callbacks
 * for lock waits and ended statements.
 */
export type Phase = {
  /** For people, for example `Attributing orders`. A function if it changes. */
  readonly name: string | (() => string);
  /** Time limit of one statement. Null means the limit of the connection, `database.statement_minutes`. */
  readonly limitMs: number | null;
  /** Time limit of waiting for a lock. */
  readonly lockLimitMs: number;
  /**
   * Aborts when the work has to end. A statement then has `DRAIN_LIMIT_MS` left. Null if statements are
   * always short and must be finished.
   */
  readonly draining: AbortSignal | null;
  /** Aborts when the work is abandoned. Its statements are then cancelled at once. */
  readonly abandoned: AbortSignal | null;
  /** Called with a message about the holder of a lock that the phase waits for. */
  readonly note: (message: string) => void;
  /**
   * Called with each statement that has ended. Null if no caller needs it. The embedded database never calls
   * it.
   */
  readonly onStatement: ((statement: EndedStatement) => void) | null;
};

export type EndedStatement = {
  /** With placeholders instead of parameters. */
  readonly text: string;
  readonly seconds: number;
  /** SQLSTATE of the failure, or another code. Null if the statement succeeded. */
  readonly code: string | null;
};

/**
 * A lock is normally held for milliseconds, or for the duration of a large statement. A holder that takes
 * longer hangs.
 */
const LOCK_LIMIT_MS = 30_000;

/** The phase of code that sets none. */
const UNNAMED: Phase = {
  name: 'reading and writing the database',
  limitMs: null,
  lockLimitMs: LOCK_LIMIT_MS,
  draining: null,
  abandoned: null,
  note: () => {},
  onStatement: null,
};

const current: { storage?: AsyncLocalStorage<Phase> } = {};

function storage(): AsyncLocalStorage<Phase> {
  current.storage ??= new AsyncLocalStorage<Phase>();
  return current.storage;
}

/** Returns the phase of the caller. */
export function currentPhase(): Phase {
  return current.storage?.getStore() ?? UNNAMED;
}

/**
 * Runs work in a phase. Values that are not given are inherited from the outer phase. Statements find the
 * phase through the asynchronous context, so callers need not pass it on.
 */
export function inPhase<Result>(phase: Partial<Phase>, work: () => Result): Result {
  return storage().run({ ...currentPhase(), ...phase }, work);
}
