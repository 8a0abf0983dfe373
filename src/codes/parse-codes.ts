import type { RowProblem } from '../core/known-error.ts';
import { foldCode, foldHandle, saysNoValue } from '../core/text/fold.ts';
import {
  type ReadSheet,
  readSheet,
  readSheetRow,
  type Sheet,
  type SheetRow,
} from '../core/text/read-sheet.ts';
import { DAY_MS, isDay } from '../core/time/day.ts';
import { zoneClock } from '../core/time/zone-clock.ts';

/** Columns of codes.csv, in any order. Required are `code` and one of handle, deal and collaboration. */
export const CODE_COLUMNS = [
  'code',
  'brand_id',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'valid_from',
  'valid_to',
] as const;
type CodeColumn = (typeof CODE_COLUMNS)[number];

/** A row by column. Missing and null cells are blank. */
export type CodeCells = Readonly<Partial<Record<CodeColumn, string | null>>>;

type Ownership = {
  readonly line: number;
  readonly brandId: string | null;
  readonly handle: string | null;
  readonly handleFolded: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly target: string;
  readonly from: ValidityTime | null;
  readonly to: ValidityTime | null;
};

export type CodeRow = Ownership & { readonly code: string; readonly folded: string };

/** A custom link. It matches orders whose links contain all of `linkFolded`. No file has such rows. */
type LinkRow = Ownership & { readonly link: string; readonly linkFolded: readonly string[] };

export type OwnerRow = CodeRow | LinkRow;

/**
 * Words of columns that say when, where or for what a code counts, or whether it does. An owner must not be credited because
 * they are ignored. Dates are also written without a separator: `enddate`.
 */
const LIMITS =
  /(?:^|[^\p{L}])(?:(?:expir|valid|limit|restrict|eligib|exclu|gültig|geldig|scad|caduc|ablauf)\p{L}*|(?:from|to|until|till|starts?|started|begins?|ends?|ended|start|end)(?:date|datum|day|time|s?at)?|(?:is|in)?(?:active|valid|enabled|disabled|paused|archived|deleted|revoked)|status|state|bis|ende|aktiv|einde|actif|activo|attivo|fin|scadenza|brands?|marken?|merk|marque|marca|platforms?|plattform|channels?|kanal|shops?|stores?|countr(?:y|ies)|land|länder|pays|país|paese|regions?|markets?|markt|currenc(?:y|ies)|währung|products?|produkte?|collections?|uses?|usage|min(?:imum)?|max(?:imum)?|once)(?:[^\p{L}]|$)/u;

const CODES: Sheet<CodeColumn, CodeRow> = {
  columns: CODE_COLUMNS,
  required: [['code'], ['influencer_handle', 'deal_id', 'collab_id']],
  mayHaveOthers: true,
  refusedOthers: {
    names: LIMITS,
    help: 'It seems to say when, where or for what the code counts. Write its first and last day into valid_from and valid_to, and its brand into brand_id, or remove the column.',
  },
  mayBePadded: true,
  insteadOfAddress: 'Name the influencer by handle, deal or collaboration, and write only the code.',
  readRow,
};

/** Parses the text of codes.csv. Its problems are mistakes: a command refuses the file before it reads anything. */
export function parseCodes(text: string): ReadSheet<CodeRow> {
  return readSheet(text, CODES);
}

/** Parses one row that is in no file. Its line is 0. */
export function parseCodeCells(cells: CodeCells): {
  readonly row: CodeRow | null;
  readonly problems: readonly RowProblem[];
} {
  return readSheetRow(cells, CODES);
}

function readRow({ line, cell, refuse }: SheetRow<CodeColumn>): CodeRow | null {
  const code = cell('code');
  const folded = foldCode(code);
  if (folded === '') return refuse('code', 'The code is blank.', 'Write the code, or remove the row.');
  for (const column of ['code', 'influencer_handle', 'deal_id', 'collab_id', 'brand_id'] as const)
    if (saysNoValue(cell(column)))
      return refuse(
        column,
        'Programs write this where there is no value.',
        column === 'code'
          ? 'Write the code, or remove the row.'
          : 'Write the value, or leave the cell blank.',
      );
  const handle = cell('influencer_handle') || null;
  const dealId = cell('deal_id') || null;
  const collabId = cell('collab_id') || null;
  const brandId = cell('brand_id') || null;
  if (hasBlanks(handle))
    return refuse(
      'influencer_handle',
      'A handle cannot contain blanks.',
      'Write the handle as in the address of the profile, not the display name.',
    );
  for (const column of ['deal_id', 'collab_id'] as const)
    if (hasBlanks(cell(column)))
      return refuse(column, 'An id cannot contain blanks.', 'Write only the id, as the service shows it.');
  if (brandId !== null && !/^\d{1,18}$/.test(brandId))
    return refuse(
      'brand_id',
      'The id of a brand must be a whole number.',
      'Write the id of the brand at the service, or leave it blank for the brand of the job.',
    );
  const handleFolded = handle === null ? null : foldHandle(handle);
  const target = targetOf({ handleFolded, dealId, collabId });
  if (target === null)
    return refuse(
      'influencer_handle',
      `${code} has no owner.`,
      'Fill in influencer_handle, deal_id or collab_id.',
    );
  const limitOf = (column: 'valid_from' | 'valid_to', end: 'start_of_day' | 'end_of_day') => {
    const time = readValidityTime(cell(column), end);
    return time === null ? null : { ...time, written: cell(column) };
  };
  const from = limitOf('valid_from', 'start_of_day');
  const to = limitOf('valid_to', 'end_of_day');
  for (const [column, time] of [
    ['valid_from', from],
    ['valid_to', to],
  ] as const)
    if (time === null && cell(column) !== '')
      return refuse(
        column,
        'This is not a readable date or time.',
        'Write 2026-04-30, 2026-04-30 18:00, or 2026-04-30T18:00:00+02:00.',
      );
  if (from !== null && to !== null && isSurelyBefore(to, from))
    return refuse(
      'valid_to',
      `It ends before it begins: valid_from is ${cell('valid_from')}.`,
      'Swap them, or correct the wrong one. A date without a time counts as a whole day.',
    );
  return { line, code, folded, brandId, handle, handleFolded, dealId, collabId, target, from, to };
}

/** Identifies the owner by the deal, or else the collaboration, or else the handle. */
function targetOf({
  handleFolded,
  dealId,
  collabId,
}: Pick<Ownership, 'handleFolded' | 'dealId' | 'collabId'>): string | null {
  if (dealId !== null) return `deal:${dealId}`;
  if (collabId !== null) return `collab:${collabId}`;
  return handleFolded === null ? null : `handle:${handleFolded}`;
}

/** A control character counts, too. */
function hasBlanks(text: string | null): boolean {
  return /[\s\p{Cc}]/u.test(text ?? '');
}

const LOCAL_TIME = /^.{10}[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/;
/** No offset from UTC is wider than 14 hours. */
const INSTANT =
  /^.{10}[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)? ?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/;

/**
 * A limit of a code's validity: an instant, or a local time in the job's zone, which the database converts to
 * an instant.
 */
type ValidityTime = {
  readonly text: string;
  readonly isLocal: boolean;
  /** What a person wrote: of an end, the last day. Absent if an event says so. */
  readonly written?: string;
};

/**
 * Reads `2026-04-01`, `2026-04-01 18:00` or an ISO instant with its offset.
 *
 * @param end whether a date without a time means the start or the end of that day. The end is the first
 * instant of the next day.
 * @returns null if the text has none of these forms or is not a valid date.
 */
export function readValidityTime(text: string, end: 'start_of_day' | 'end_of_day'): ValidityTime | null {
  const day = text.slice(0, 10);
  if (!isDay(day)) return null;
  if (LOCAL_TIME.test(text)) return { text, isLocal: true };
  if (INSTANT.test(text)) return { text, isLocal: false };
  if (text !== day) return null;
  // Many write the last day that a calendar has for "for ever". The day after it has five digits for its year.
  if (end === 'start_of_day' || day === '9999-12-31') return { text: `${day} 00:00:00`, isLocal: true };
  const [next = ''] = new Date(Date.parse(day) + DAY_MS).toISOString().split('T');
  return { text: `${next} 00:00:00`, isLocal: true };
}

/** Offsets from UTC range from -12 to +14 hours. */
const WIDEST_OFFSETS_MS = 26 * 3_600_000;

/**
 * True if the first limit is certainly not after the other. A local time and an instant are compared with a
 * margin that covers every time zone.
 */
function isSurelyBefore(one: ValidityTime, other: ValidityTime): boolean {
  return toWallMs(one) + (one.isLocal === other.isLocal ? 0 : WIDEST_OFFSETS_MS) <= toWallMs(other);
}

/** Returns the instant of a limit, in milliseconds. @param zone IANA zone of local times. */
export function toInstantMs(time: ValidityTime, zone: string): number {
  return time.isLocal ? zoneClock(zone).toInstantMs(toWallMs(time)) : toWallMs(time);
}

function toWallMs({ text, isLocal }: ValidityTime): number {
  return Date.parse(`${text.replace(/ (?=[Z+-])/, '').replace(' ', 'T')}${isLocal ? 'Z' : ''}`);
}
