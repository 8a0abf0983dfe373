import { shortLedgerId } from './identity.ts';

/** Ends the name of a journal that its process has not closed: `<owner>.open.ndjson`. */
export const OPEN_ENDING = '.open.ndjson';
export const CLOSED_ENDING = '.ndjson';

/** 2^53 has 16 digits. Padded names sort in numeric order. */
const NUMBER_WIDTH = 16;

/**
 * Name of a closed journal: `<ledger>-<number of the newest claim>-<owner>.ndjson`, with short ids. Such
 * names sort by ledger, then by newest claim.
 */
export function closedName(ledgerId: string, newest: number, owner: string): string {
  return `${shortLedgerId(ledgerId)}-${padded(newest)}-${shortLedgerId(owner)}${CLOSED_ENDING}`;
}

/**
 * Name of a part of a journal whose process may be alive (mark.ts): `<owner>-<number of the newest
 * claim>.open.ndjson`.
 */
export function partName(owner: string, newest: number): string {
  return `${owner}-${padded(newest)}${OPEN_ENDING}`;
}

/** The information in the name of a journal. */
export type JournalName = {
  /** Short id of the ledger. Null for an open journal, whose head contains the id. */
  readonly ledger: string | null;
  /** Number of its newest claim. Null for an open journal that is not a part. */
  readonly newest: number | null;
  /** Short id of its process. */
  readonly owner: string;
};

const CLOSED = /^([0-9a-f]{8})-(\d{16})-([0-9a-f]{8})\.ndjson$/;
const OPEN = /^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-(\d{16}))?\.open\.ndjson$/;

/** Parses the name of a file. @returns null if it is not the name of a journal. */
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
