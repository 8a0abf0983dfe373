import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

/*
 * What the journals of one machine cannot tell: whether another machine has posted what a database that was restored, failed over or copied
 * lacks. So the database knows where it is (`ledger.place()`) and which data folders have posted to it (`ledger.machines`). At another place than
 * before, all of them must have compared, unless they share a mark.
 */

/** A data folder that posted to this ledger, and has not compared its journals with the database where it is now. */
export type OtherMachine = { readonly host: string; readonly postedAt: Date };

export type LedgerPlace = {
  /** Where the database is; null where the server does not tell. */
  readonly now: string | null;
  /** It is where it was when it was last found whole. */
  readonly isSame: boolean;
  readonly others: readonly OtherMachine[];
};

/** Name of the file in the folder of the journals that has the machine's id. */
const FILE = 'machine';

/** A machine that has not posted for longer has nothing that would still be in a backup's reach: journals are kept as long. */
const FORGOTTEN_AFTER = '90 days';

/** @param folder of the journals. @returns null where nothing has posted from here. */
export function readMachineId(folder: string): string | null {
  try {
    const id = readFileSync(join(folder, FILE), 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch {
    return null;
  }
}

function ensureMachineId(folder: string): string {
  const known = readMachineId(folder);
  if (known !== null) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = randomUUID();
  // Another process may be first: then its id counts.
  try {
    writeFileSync(join(folder, FILE), `${made}\n`, { flag: 'wx', mode: 0o600 });
  } catch {
    return readMachineId(folder) ?? made;
  }
  return made;
}

/** Looks where the ledger is, and who else may know what it lacks. */
export async function readPlace(db: Database, machineId: string | null): Promise<LedgerPlace> {
  const { rows } = await sql<{ now: string | null; before: string | null }>`
    select ledger.place() as now, (select place from ledger.identity) as before`.execute(db);
  const { now = null, before = null } = rows[0] ?? {};
  const others = await sql<OtherMachine>`
    select host, posted_at as "postedAt" from ledger.machines
    where machine_id is distinct from ${machineId}::uuid and whole_at is distinct from ${now}
      and posted_at > clock_timestamp() - ${FORGOTTEN_AFTER}::interval
    order by posted_at desc`.execute(db);
  return { now, isSame: now === null || before === null || now === before, others: others.rows };
}

/** Data folders that posted to this ledger and may still have what it would lack. */
export async function countMachines(db: Database): Promise<number> {
  const { rows } = await sql<{ machines: number }>`
    select count(*)::integer as machines from ledger.machines
    where posted_at > clock_timestamp() - ${FORGOTTEN_AFTER}::interval`.execute(db);
  return rows[0]?.machines ?? 0;
}

/** The ledger was found whole where it is now. */
export async function keepPlace(db: Database): Promise<void> {
  await sql`
    update ledger.identity set place = ledger.place() where place is distinct from ledger.place()`.execute(
    db,
  );
}

/** Called before the first claim of a process: this machine's journals are about to know what others do not. */
export async function registerMachine(db: Database, folder: string): Promise<void> {
  await sql`
    insert into ledger.machines (machine_id, host, whole_at) values (${ensureMachineId(folder)}::uuid, ${hostname()}, ledger.place())
    on conflict (machine_id) do update
    set host = excluded.host, posted_at = clock_timestamp(), whole_at = excluded.whole_at`.execute(db);
}

/** All that the journals of this machine know is in the database, where it is now. */
export async function markCompared(db: Database, machineId: string | null): Promise<void> {
  await sql`
    update ledger.machines set whole_at = ledger.place() where machine_id = ${machineId}::uuid`.execute(db);
}
