import { shortLedgerId } from './identity.ts';

/** Ends the name of a journal whose process has not closed it: `<owner>.open.ndjson`. */
export const OPEN_ENDING = '.open.ndjson';
export const CLOSED_ENDING = '.ndjson';

/** As many digits as 2^53 has, so that names sort by number. */
const NUMBER_WIDTH = 16;

/** `<ledger>-<number of the newest claim>-<owner>.ndjson`, with short ids: sorts by ledger, then by its newest claim. */
export function closedName(ledgerId: string, newest: number, owner: string): string {
  return `${shortLedgerId(ledgerId)}-${padded(newest)}-${shortLedgerId(owner)}${CLOSED_ENDING}`;
}

/** `<owner>-<number of the newest claim>.open.ndjson`: some claims of a process that may live (mark.ts). */
export function partName(owner: string, newest: number): string {
  return `${owner}-${padded(newest)}${OPEN_ENDING}`;
}

/** What the name of a journal tells. */
export type JournalName = {
  /** Short id; null of an open one, whose head names it. */
  readonly ledger: string | null;
  /** Number of its newest claim; null of an open one that is being written. */
  readonly newest: number | null;
  /** Short id of its process. */
  readonly owner: string;
};

const CLOSED = /^([0-9a-f]{8})-(\d{16})-([0-9a-f]{8})\.ndjson$/;
const OPEN = /^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-(\d{16}))?\.open\.ndjson$/;

/** Reads a name. @returns null for what is no journal of ours, whatever else it may be called. */
export function parseJournalName(name: string): JournalName | null {
  const [, ledger, number, closedBy] = CLOSED.exec(name) ?? [];
  if (ledger !== undefined && closedBy !== undefined)
    return { ledger, newest: Number(number), owner: closedBy };
  const [, owner, newest] = OPEN.exec(name) ?? [];
  if (owner === undefined) return null;
  return { ledger: null, newest: newest === undefined ? null : Number(newest), owner };
}

function padded(number: number): string {
  return String(number).padStart(NUMBER_WIDTH, '0');
}
