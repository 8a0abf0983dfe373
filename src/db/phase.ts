import { AsyncLocalStorage } from 'node:async_hooks';

/** What a process is doing when it asks the database something: how long one statement of it may take, and whom to tell that it waits. */
export type Phase = {
  /** For a person: `Attributing orders`. */
  readonly name: string;
  /** One statement takes so long at most; null: as long as the connection's own limit, `database.statement_minutes`. */
  readonly limitMs: number | null;
  /** A lock is waited for so long at most. */
  readonly lockLimitMs: number;
  /** Aborts when the work is to end: a statement then has `DRAIN_LIMIT_MS` left. Null where a statement is always short and must be finished. */
  readonly draining: AbortSignal | null;
  /** Aborts when the work was given up: its statements are cancelled at once. */
  readonly abandoned: AbortSignal | null;
  /** Told who holds a lock that the phase waits for. */
  readonly note: (message: string) => void;
  /** Told of each statement that has ended; null: nobody is. The embedded database tells nobody. */
  readonly onStatement: ((statement: EndedStatement) => void) | null;
};

export type EndedStatement = {
  /** With placeholders for its parameters. */
  readonly text: string;
  readonly seconds: number;
  /** SQLSTATE of its failure, or another code; null: it did not fail. */
  readonly code: string | null;
};

/** Locks are held for milliseconds, or for as long as a large statement takes; a holder that takes longer hangs. */
const LOCK_LIMIT_MS = 30_000;

/** Of whatever has not said more. */
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

/** The caller's phase. */
export function currentPhase(): Phase {
  return current.storage?.getStore() ?? UNNAMED;
}

/** Does work in a phase: what is not given stays as it is outside. Statements find it by the asynchronous context, so nothing hands it on. */
export function inPhase<Result>(phase: Partial<Phase>, work: () => Result): Result {
  const outer = currentPhase();
  // A phase whose name changes while it lasts (a getter) must keep doing so.
  return storage().run(Object.create(outer, Object.getOwnPropertyDescriptors(phase)) as Phase, work);
}
