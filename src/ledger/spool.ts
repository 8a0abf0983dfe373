import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { Answer } from './record.ts';
import { recordAnswers } from './record.ts';

/** Answers of the service that the database could not take when they came. */
export type Spool = {
  /** Durable when it returns: written and fsynced. */
  append(answer: Answer): void;
};

const ENDING = '.ndjson';

/**
 * Opens this process's spool: one file, made on the first append.
 *
 * @param folder absolute; made when it is missing.
 * @param owner names the file, so that a later process can tell whether its writer still lives.
 */
export function openSpool(folder: string, owner: string): Spool {
  return {
    append(answer) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = openSync(join(folder, owner + ENDING), 'a', 0o600);
      try {
        writeSync(file, `${JSON.stringify(answer)}\n`);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      // The file's name must outlive a power cut too.
      const parent = openSync(folder, 'r');
      try {
        fsyncSync(parent);
      } finally {
        closeSync(parent);
      }
    },
  };
}

/**
 * Records what was spooled: by this process, and by processes whose leases are over. Must run before reaping, so that an answer that
 * is known does not become a doubt.
 *
 * @returns how many answers were recorded. Recording one twice is harmless; a line cut by a crash had not been acknowledged.
 */
export async function replaySpool(db: Database, folder: string, owner: string): Promise<number> {
  let replayed = 0;
  for (const name of spoolFiles(folder)) {
    const writer = name.slice(0, -ENDING.length);
    if (writer !== owner && (await isAlive(db, writer))) continue;
    const path = join(folder, name);
    const answers = readAnswers(path);
    // One after the other: the same answer may stand in it twice.
    for (const answer of answers) await recordAnswers(db, [answer], 'spool');
    rmSync(path);
    replayed += answers.length;
  }
  return replayed;
}

function spoolFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readAnswers(path: string): Answer[] {
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Answer);
}

async function isAlive(db: Database, owner: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ops.leases where owner::text = ${owner} and expires_at > clock_timestamp() limit 1`.execute(
    db,
  );
  return rows.length > 0;
}
