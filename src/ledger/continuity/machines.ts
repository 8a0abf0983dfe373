import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { namePath, withPath } from '../../core/text/folder-problem.ts';
import type { Database } from '../../db/connect.ts';
import { countOf, execute, rowOf, rowsOf } from '../../db/statement.ts';

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

/** Machines that have not posted for longer than this are ignored: journals are kept for the same time. */
const FORGOTTEN_AFTER = '90 days';

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
  const others = await rowsOf<OtherMachine>(db)`
    select host, posted_at as "postedAt" from ledger.machines
    where machine_id is distinct from ${machineId}::uuid and whole_at is distinct from ${now}
      and posted_at > clock_timestamp() - ${FORGOTTEN_AFTER}::interval
    order by posted_at desc`;
  return { now, isSame: now === null || before === null || now === before, others };
}

/** Counts the data folders that posted to this ledger and may still have journals of it. */
export async function countMachines(db: Database): Promise<number> {
  return countOf(db)`
    select count(*) as machines from ledger.machines
    where posted_at > clock_timestamp() - ${FORGOTTEN_AFTER}::interval`;
}

/** Records that the ledger was found complete at its current place. */
export async function keepLedgerLocation(db: Database): Promise<void> {
  await execute(db)`
    update ledger.identity set place = ledger.place() where place is distinct from ledger.place()`;
}

/**
 * Records that this machine posts. Called before the first claim of a process, because from then on its
 * journals know claims that no other machine knows.
 */
export async function registerMachine(db: Database, folder: string): Promise<void> {
  await execute(db)`
    insert into ledger.machines (machine_id, host, whole_at) values (${ensureMachineId(folder)}::uuid, ${hostname()}, ledger.place())
    on conflict (machine_id) do update
    set host = excluded.host, posted_at = clock_timestamp(), whole_at = excluded.whole_at`;
}

/** Records that the database, at its current place, has everything in the journals of this machine. */
export async function markCompared(db: Database, machineId: string | null): Promise<void> {
  await execute(db)`
    update ledger.machines set whole_at = ledger.place() where machine_id = ${machineId}::uuid`;
}
