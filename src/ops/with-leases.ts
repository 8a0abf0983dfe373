import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Progress } from '../core/progress.ts';
import type { Database } from '../db/connect.ts';
import {
  type Acquired,
  acquireLease,
  type Busy,
  type Heartbeat,
  type LeaseHolder,
  releaseLeases,
  startHeartbeat,
} from './lease.ts';
import { explainAbort } from './run.ts';

export type LeaseOptions = {
  readonly names: readonly string[];
  readonly ttlMs: number;
  readonly draining: AbortSignal;
  /** Shows the wait for a lease whose holder may be gone. Omitted: a held lease ends the run at once. */
  readonly waitingIn?: Progress | undefined;
  /** Describes that another process holds one of them. */
  readonly explainBusy?: ((holder: LeaseHolder) => KnownError) | undefined;
};

/**
 * Runs work while holding leases, which keep other processes from the same jobs, sources and customers.
 *
 * @throws KnownError `already_running` (exit 5) if another process holds one of them, and `waitingIn` is not given or
 *   that process is running; `interrupted` (exit 130).
 */
export async function withLeases<Result>(
  db: Database,
  { names, ...options }: LeaseOptions,
  work: (held: { readonly owner: string; readonly heartbeat: Heartbeat }) => Promise<Result>,
): Promise<Result> {
  const holder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  const { owner } = holder;
  try {
    // Nothing renews the leases taken before a wait, so all are taken again after it.
    let takenAt: number;
    let hasWaited: boolean;
    do {
      takenAt = performance.now();
      hasWaited = false;
      for (const name of names) if (await takeLease(db, { ...holder, ...options, name })) hasWaited = true;
    } while (hasWaited);
    const heartbeat = startHeartbeat(db, { owner, ttlMs: options.ttlMs, leases: names.length, takenAt });
    try {
      return await work({ owner, heartbeat });
    } finally {
      heartbeat.stop();
    }
  } finally {
    // If the database is unreachable, the leases expire by themselves.
    await releaseLeases(db, owner).catch(() => {});
  }
}

/** How often a lease that another process holds is requested again. */
const ASK_AGAIN_MS = 250;

type Taking = LeaseHolder & Omit<LeaseOptions, 'names'> & { readonly name: string };

/** @returns whether it had to wait for the lease. */
async function takeLease(db: Database, options: Taking): Promise<boolean> {
  let answer = await acquireLease(db, options);
  const isFree = answer.kind === 'acquired';
  while (answer.kind === 'busy' && answer.isBrief && !options.draining.aborted)
    answer = await askAgain(db, options);
  if (answer.kind === 'busy') answer = await waitUntilOver(db, answer, options);
  if (answer.kind === 'acquired') return !isFree;
  if (options.explainBusy !== undefined) throw options.explainBusy(answer.holder);
  const { host, pid, acquiredAt, endsInMs } = answer.holder;
  const [kind, name] = options.name.split(':');
  const isAlive = options.waitingIn !== undefined;
  throw new KnownError({
    code: 'already_running',
    message: `${isAlive ? 'A run is using' : 'Another run has been using'} ${kind} ${name} since ${acquiredAt.toISOString()} (process ${pid} on ${host}${isAlive ? ', which keeps renewing its lease' : ''}).`,
    help: isAlive
      ? 'Wait until it ends, or end it with SIGTERM: it finishes its requests.'
      : `Wait until it ends. If that process is gone, its lease expires in ${Math.ceil(endsInMs / 1000)} s, and a run can start then: \`--wait\` waits for it.`,
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.alreadyRunning,
  });
}

async function askAgain(db: Database, options: Taking): Promise<Acquired> {
  await sleep(ASK_AGAIN_MS, undefined, { signal: options.draining }).catch(() => {});
  return acquireLease(db, options);
}

/**
 * Waits for the lease of a process that may be gone, with a countdown. A lease that ends later than before, or
 * that has another holder, belongs to a process that is running: the wait then ends. So it never takes longer
 * than a lease lasts.
 */
async function waitUntilOver(db: Database, busy: Busy, options: Taking): Promise<Acquired> {
  const { waitingIn: progress, draining } = options;
  if (progress === undefined) return busy;
  const { pid, host, owner, endsInMs: totalMs } = busy.holder;
  const seconds = Math.ceil(totalMs / 1000);
  progress.note(
    `Process ${pid} on ${host} may still be running. If it is gone, a run can start in ${seconds} s; waiting until then (Ctrl-C ends the wait).`,
  );
  progress.begin({ name: 'wait', label: 'Waiting to start', unit: 'seconds', total: seconds });
  let shown = 0;
  let leftMs = totalMs;
  try {
    for (;;) {
      if (draining.aborted) throw explainAbort(draining.reason, draining);
      const answer = await askAgain(db, options);
      const isOver =
        answer.kind === 'acquired' || answer.holder.owner !== owner || answer.holder.endsInMs > leftMs;
      leftMs = isOver ? 0 : answer.holder.endsInMs;
      const waited = Math.min(seconds, Math.floor((totalMs - leftMs) / 1000));
      progress.advance(waited - shown);
      shown = waited;
      if (isOver) return answer;
    }
  } finally {
    // What follows may print lines of its own before the next step begins.
    progress.end();
  }
}
