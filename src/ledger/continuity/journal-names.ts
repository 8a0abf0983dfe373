import { shortLedgerId } from './identity.ts';

/** Ends the name of a journal that its process has not closed: `<owner>.open.ndjson`. */
export const OPEN_ENDING = '.open.ndjson';
export const CLOSED_ENDING = '.ndjson';

/** Padded names sort in numeric order, for people: a bigint may have 19 digits, and names are compared by their numbers. */
const NUMBER_WIDTH = 16;

/** Name of a closed journal: `<ledger>-<number of the newest claim>-<owner>.ndjson`, with short ids. */
export function closedName(ledgerId: string, newest: string, owner: string): string {
  return `${shortLedgerId(ledgerId)}-${padded(newest)}-${shortLedgerId(owner)}${CLOSED_ENDING}`;
}

/**
 * Name of a part of a journal whose process may be alive (mark.ts): `<owner>-<number of the newest
 * claim>.open.ndjson`.
 */
export function partName(owner: string, newest: string): string {
  return `${owner}-${padded(newest)}${OPEN_ENDING}`;
}

/** The information in the name of a journal. */
export type JournalName = {
  /** Short id of the ledger. Null for an open journal, whose head contains the id. */
  readonly ledger: string | null;
  /** Number of its newest claim. Null for an open journal that is not a part. */
  readonly newest: bigint | null;
  /** Short id of its process. */
  readonly owner: string;
};

const CLOSED = /^([0-9a-f]{8})-(\d{16,19})-([0-9a-f]{8})\.ndjson$/;
const OPEN =
  /^([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-(\d{16,19}))?\.open\.ndjson$/;

/** Parses the name of a file. @returns null if it is not the name of a journal. */
export function parseJournalName(name: string): JournalName | null {
  const [, ledger, number, closedBy] = CLOSED.exec(name) ?? [];
  if (ledger !== undefined && number !== undefined && closedBy !== undefined)
    return { ledger, newest: BigInt(number), owner: closedBy };
  const [, owner, newest] = OPEN.exec(name) ?? [];
  if (owner === undefined) return null;
  return { ledger: null, newest: newest === undefined ? null : BigInt(newest), owner };
}

function padded(number: string): string {
  return number.padStart(NUMBER_WIDTH, '0');
}
