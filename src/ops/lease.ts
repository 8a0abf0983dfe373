import { clockAfter, databaseClock } from '../db/clock.ts';
import { hasTable } from '../db/has-table.ts';
import { inPhase } from '../db/phase.ts';
import { type Database, execute, rowsOf } from '../db/statement.ts';

export type LeaseHolder = { readonly owner: string; readonly host: string; readonly pid: number };

/** Another process holds the lease. */
export type Busy = {
  readonly kind: 'busy';
  readonly holder: LeaseHolder & { readonly acquiredAt: Date; readonly endsInMs: number };
  /**
   * True if a backfill holds it, and only for as long as it takes to read new files, so that it is worth
   * waiting.
   */
  readonly isBrief: boolean;
};

export type Acquired = { readonly kind: 'acquired' } | Busy;

/**
 * Takes a lease, or returns its holder. Uses only the clock of the database, so clocks of machines do not
 * matter. A lease is a row and not a session lock, so it works behind a connection pooler.
 *
 * @param options.name for example `job:<job>`, `source:<source>` or `serve:<owner>`.
 */
export async function acquireLease(
  db: Database,
  options: LeaseHolder & { readonly name: string; readonly ttlMs: number },
): Promise<Acquired> {
  const { name, owner, host, pid, ttlMs } = options;
  const taken = await execute(db)`
    insert into ops.leases as l (name, owner, host, pid, expires_at)
    values (${name}, ${owner}::uuid, ${host}, ${pid}, clock_timestamp() + ${ttlMs} * interval '1 millisecond')
    on conflict (name) do update
    set owner = excluded.owner, host = excluded.host, pid = excluded.pid, expires_at = excluded.expires_at,
        acquired_at = clock_timestamp(), fence = l.fence + 1
    where l.expires_at <= clock_timestamp() or l.owner = excluded.owner`;
  if (taken > 0) return { kind: 'acquired' };

  const held = (await readHolders(db, [name]))[0];
  // The lease was released in the meantime, so try again.
  if (held === undefined) return acquireLease(db, options);
  return { kind: 'busy', ...held };
}

/** Who holds one of these leases now; the one that ends last. Null if a run could take them all. */
export async function findHolder(db: Database, names: readonly string[]): Promise<Busy['holder'] | null> {
  const held = (await readHolders(db, names)).filter(
    ({ holder, isBrief }) => holder.endsInMs > 0 && !isBrief,
  );
  return held[0]?.holder ?? null;
}

async function readHolders(db: Database, names: readonly string[]): Promise<readonly Omit<Busy, 'kind'>[]> {
  const rows = await rowsOf<LeaseHolder & { acquiredAt: Date; endsInMs: number; isBrief: boolean }>(db)`
    select l.owner, l.host, l.pid, l.acquired_at as "acquiredAt",
      greatest(0, ceil(extract(epoch from l.expires_at - clock_timestamp()) * 1000))::float8 as "endsInMs",
      starts_with(l.name, 'source:')
        and exists (select from ops.leases b
          where b.owner = l.owner and starts_with(b.name, 'job:backfill:')) as "isBrief"
    from ops.leases l where l.name = any(${names}::text[]) order by l.expires_at desc`;
  return rows.map(({ isBrief, ...holder }) => ({ holder, isBrief }));
}

/** The `serve:` leases of dead processes are deleted after this time. */
const FORGOTTEN_AFTER_MS = 86_400_000;

/**
 * Renews a lease that only this owner ever takes (`serve:<owner>`), even if it has expired in the meantime.
 */
export async function keepLease(
  db: Database,
  options: LeaseHolder & { readonly name: string; readonly ttlMs: number },
): Promise<void> {
  const { name, ttlMs } = options;
  const kept = await db
    .updateTable('ops.leases')
    .set({ expires_at: clockAfter(ttlMs) })
    .where('name', '=', name)
    .executeTakeFirst();
  if (kept.numUpdatedRows > 0) return;
  await db
    .deleteFrom('ops.leases')
    .where('name', 'like', 'serve:%')
    .where('expires_at', '<', clockAfter(-FORGOTTEN_AFTER_MS))
    .execute();
  await acquireLease(db, options);
}

/** Releases one lease. */
export async function releaseLease(
  db: Database,
  { owner, name }: { owner: string; name: string },
): Promise<void> {
  await db.deleteFrom('ops.leases').where('owner', '=', owner).where('name', '=', name).execute();
}

/** Releases all leases of this owner. */
export async function releaseLeases(db: Database, owner: string): Promise<void> {
  await db.deleteFrom('ops.leases').where('owner', '=', owner).execute();
}

/**
 * Ends the leases of earlier processes on the embedded database. Only one process at a time can open it, so
 * the earlier ones are gone and no process has to wait until their leases expire. Call it right after opening the
 * embedded database, and never on a server.
 */
export async function endLeasesBefore(db: Database): Promise<void> {
  if (!(await hasTable(db, 'ops.leases'))) return;
  await db
    .updateTable('ops.leases')
    .set({ expires_at: databaseClock })
    .where('expires_at', '>', databaseClock)
    .execute();
}

export type Heartbeat = {
  /**
   * False once the leases may have expired, as far as this process can tell. Nothing new may be claimed or
   * written then.
   */
  isHeld(): boolean;
  stop(): void;
};

/** A lease survives three failed heartbeats. */
const HEARTBEATS_PER_TTL = 4;

/**
 * Renews the leases of this owner until stopped. Measures time with the monotonic clock, from before each
 * heartbeat was sent. So this process considers its leases lost before the database does, never after.
 *
 * @param options.leases number of rows that the owner holds. If fewer are renewed, another process has taken
 * one over.
 * @param options.takenAt time of the monotonic clock before the first of them was taken.
 */
export function startHeartbeat(
  db: Database,
  options: {
    readonly owner: string;
    readonly ttlMs: number;
    readonly leases: number;
    readonly takenAt: number;
  },
): Heartbeat {
  const { owner, ttlMs, leases, takenAt } = options;
  // A heartbeat that takes longer than the lease is useless. A run that drains needs its leases until it
  // ends, so draining does not cut heartbeats short.
  const heartbeatPhase = { name: 'Keeping the leases', limitMs: ttlMs, draining: null };
  const renew = db
    .updateTable('ops.leases')
    .set({ expires_at: clockAfter(ttlMs) })
    .where('owner', '=', owner)
    .where('expires_at', '>', databaseClock);
  let heldUntil = takenAt + ttlMs;
  let beating = false;

  async function heartbeat(): Promise<void> {
    if (beating) return;
    beating = true;
    const askedAt = performance.now();
    try {
      const renewed = await inPhase(heartbeatPhase, () => renew.executeTakeFirst());
      heldUntil = renewed.numUpdatedRows >= leases ? askedAt + ttlMs : 0;
    } catch {
      // The database is unreachable. The leases expire by themselves.
    } finally {
      beating = false;
    }
  }

  const timer = setInterval(heartbeat, ttlMs / HEARTBEATS_PER_TTL);
  timer.unref();
  return { isHeld: () => performance.now() < heldUntil, stop: () => clearInterval(timer) };
}
