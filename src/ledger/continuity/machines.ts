import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { namePath, withPath } from '../../core/text/folder-problem.ts';
import { clockAfter, databaseClock } from '../../db/clock.ts';
import { countOf, type Database, rowOf } from '../../db/statement.ts';
import { JOURNALS_KEPT_MS } from './journal-folder.ts';

/*
 * The journals of one machine cannot show whether another machine has posted entries that a restored,
 * failed-over or copied database lacks. Therefore the database stores where it is (`ledger.place()`) and
 * which data folders have posted to it (`ledger.machines`). When the database has moved, every machine must
 * compare its journals, unless the machines share a mark.
 */

/**
 * Another data folder that posted to this ledger and has not yet compared its journals with the database at
 * its current place.
 */
export type OtherMachine = { readonly host: string; readonly postedAt: Date };

export type LedgerLocation = {
  /** Where the database is; null if the server does not report it. */
  readonly now: string | null;
  /** True if the database is where it was last found complete, or if that is not known. */
  readonly isSame: boolean;
  readonly others: readonly OtherMachine[];
};

/** Name of the file with the machine's id, in the folder of the journals. */
const FILE = 'machine';

/** SQL: where the database is. Null if the server does not report it. */
const currentPlace = sql<string | null>`ledger.place()`;

/**
 * Reads the id of this machine. @param folder the folder of the journals. @returns null if nothing has been
 * posted from here.
 *
 * @throws the error of the file system if it cannot be read: another id would be another machine.
 */
export function readMachineId(folder: string): string | null {
  const path = join(folder, FILE);
  try {
    const id = readFileSync(path, 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw namePath(error, path);
  }
}

function ensureMachineId(folder: string): string {
  const known = readMachineId(folder);
  if (known !== null) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made = randomUUID();
  const path = join(folder, FILE);
  const write = (flag: string): string => {
    withPath(path, () => writeFileSync(path, `${made}\n`, { flag, mode: 0o600 }));
    return made;
  };
  try {
    return write('wx');
  } catch (error) {
    // If another process has created the file first, its id is used. A full disk may have left it empty.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readMachineId(folder) ?? write('w');
  }
}

/** Reads where the ledger is, and which other machines may know claims that it lacks. */
export async function readLedgerLocation(db: Database, machineId: string | null): Promise<LedgerLocation> {
  const places = await rowOf<{ now: string | null; before: string | null }>(db)`
    select ledger.place() as now, (select place from ledger.identity) as before`;
  const { now = null, before = null } = places ?? {};
  // A machine that has not posted for longer than this keeps no journals that show other claims.
  const others = await db
    .selectFrom('ledger.machines')
    .select(['host', 'posted_at as postedAt'])
    .where('machine_id', 'is distinct from', machineId)
    .where('whole_at', 'is distinct from', now)
    .where('posted_at', '>', clockAfter(-JOURNALS_KEPT_MS))
    .orderBy('posted_at', 'desc')
    .execute();
  return { now, isSame: now === null || before === null || now === before, others };
}

/** Counts the data folders that posted to this ledger and may still have journals of it. */
export async function countMachines(db: Database): Promise<number> {
  return countOf(db)`
    select count(*) as machines from ledger.machines
    where posted_at > ${clockAfter(-JOURNALS_KEPT_MS)}`;
}

/** Records that the ledger was found complete at its current place. */
export async function keepLedgerLocation(db: Database): Promise<void> {
  await db
    .updateTable('ledger.identity')
    .set({ place: currentPlace })
    .where('place', 'is distinct from', currentPlace)
    .execute();
}

/**
 * Records that this machine posts. Called before the first claim of a process, because from then on its
 * journals know claims that no other machine knows.
 */
export async function registerMachine(db: Database, folder: string): Promise<void> {
  const now = { host: hostname(), posted_at: databaseClock, whole_at: currentPlace };
  await db
    .insertInto('ledger.machines')
    .values({ ...now, machine_id: ensureMachineId(folder) })
    .onConflict((known) => known.column('machine_id').doUpdateSet(now))
    .execute();
}

/** Records that the database, at its current place, has everything in the journals of this machine. */
export async function markCompared(db: Database, machineId: string | null): Promise<void> {
  const own = db.updateTable('ledger.machines').where('machine_id', '=', machineId);
  await own.set({ whole_at: currentPlace }).execute();
}
