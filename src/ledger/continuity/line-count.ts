import { closeSync, openSync, readFileSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalEnd } from './journal-lines.ts';

/*
 * How far a process has written its journal, kept in memory that outlives it: in `/dev/shm`, until the machine restarts.
 * A disk may lose lines while the machine goes on (a file system that was forcibly shut down and mounted again). The
 * journal then ends before the line that is counted here, and so does not prove what it lacks.
 */

const FOLDER = '/dev/shm';
/** `statfs(2)`: the file system is in memory. */
const TMPFS_MAGIC = 0x01021994;
/** Two numbers below 2^53, so that each count replaces the one before it as a whole. */
const WIDTH = 40;

export type LineCount = {
  /** Call it after the lines were written, and before anything is done that relies on them. Never throws. */
  note(end: JournalEnd): void;
  /** Call it once the journal needs no proof any more. */
  remove(): void;
};

/** Starts to count the lines of a journal. Where memory cannot be shared, nothing is counted, and nothing proven. */
export function openLineCount(owner: string): LineCount {
  let file: number | null = null;
  const remove = (): void => {
    if (file !== null) closeSync(file);
    file = null;
    removeLineCount(owner);
  };
  try {
    if (statfsSync(FOLDER).type === TMPFS_MAGIC) file = openSync(pathOf(owner), 'wx', 0o600);
  } catch {
    // Nothing is counted then.
  }
  return {
    note({ lines, sum }) {
      if (file === null) return;
      try {
        writeSync(file, `${lines} ${sum}`.padEnd(WIDTH), 0);
      } catch {
        // An old count would prove too much.
        remove();
      }
    },
    remove,
  };
}

/** @returns how far a process wrote its journal; null if that is not known. */
export function readLineCount(owner: string): JournalEnd | null {
  try {
    // Everyone may write to this folder.
    if (statSync(pathOf(owner)).uid !== process.getuid?.()) return null;
    const [, lines, sum] = /^(\d+) (\d+) *$/.exec(readFileSync(pathOf(owner), 'utf8')) ?? [];
    return lines === undefined || sum === undefined ? null : { lines: Number(lines), sum: Number(sum) };
  } catch {
    return null;
  }
}

export function removeLineCount(owner: string): void {
  rmSync(pathOf(owner), { force: true });
}

function pathOf(owner: string): string {
  return join(FOLDER, `influencer-sync-${owner}`);
}
