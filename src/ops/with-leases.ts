import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { Database } from '../db/connect.ts';
import { acquireLease, type Heartbeat, type LeaseHolder, releaseLeases, startHeartbeat } from './lease.ts';

export type LeaseOptions = {
  readonly names: readonly string[];
  readonly ttlMs: number;
  readonly draining: AbortSignal;
  /** Describes that another process holds one of them. */
  readonly explainBusy?: ((holder: LeaseHolder) => KnownError) | undefined;
};

/**
 * Runs work while holding leases, which keep other processes from the same jobs, sources and customers.
 *
 * @throws KnownError `already_running` (exit 5) if another process holds one of them.
 */
export async function withLeases<Result>(
  db: Database,
  { names, ...options }: LeaseOptions,
  work: (held: { readonly owner: string; readonly heartbeat: Heartbeat }) => Promise<Result>,
): Promise<Result> {
  const holder = { owner: randomUUID(), host: hostname(), pid: process.pid };
  const { owner } = holder;
  try {
    for (const name of names) await takeLease(db, { ...holder, ...options, name });
    const heartbeat = startHeartbeat(db, { owner, ttlMs: options.ttlMs, leases: names.length });
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

/** How often a lease that is held only briefly is requested again. */
const ASK_AGAIN_MS = 250;

async function takeLease(
  db: Database,
  options: LeaseHolder & Omit<LeaseOptions, 'names'> & { readonly name: string },
): Promise<void> {
  let answer = await acquireLease(db, options);
  while (answer.kind === 'busy' && answer.isBrief && !options.draining.aborted) {
    await sleep(ASK_AGAIN_MS, undefined, { signal: options.draining }).catch(() => {});
    answer = await acquireLease(db, options);
  }
  if (answer.kind === 'acquired') return;
  if (options.explainBusy !== undefined) throw options.explainBusy(answer.holder);
  const { host, pid, acquiredAt, endsInMs } = answer.holder;
  const [kind, name] = options.name.split(':');
  throw new KnownError({
    code: 'already_running',
    message: `Another run has been using ${kind} ${name} since ${acquiredAt.toISOString()} (process ${pid} on ${host}).`,
    help: `Wait until it ends. If that process is gone, its lease expires in ${Math.ceil(endsInMs / 1000)} s, and a run can start then.`,
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.alreadyRunning,
  });
}
