import type { CodeProblem } from '../core/report.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { foldCode, foldHandle } from '../core/text/fold.ts';
import { hasAddress } from '../core/text/mask-addresses.ts';
import { type Line, readLines } from './read-lines.ts';
import { readValidityTime, type ValidityTime } from './read-validity-time.ts';

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

/** The owner of a code or a link, and the period. */
type Ownership = {
  readonly line: number;
  readonly brandId: string | null;
  readonly handle: string | null;
  readonly handleFolded: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** Identifies the owner. */
  readonly target: string;
  readonly from: ValidityTime | null;
  readonly to: ValidityTime | null;
};

/** One usable row. */
export type CodeRow = Ownership & { readonly code: string; readonly folded: string };

/** A custom link. It matches orders whose links contain all of `linkFolded`. No file has such rows. */
export type LinkRow = Ownership & { readonly link: string; readonly linkFolded: readonly string[] };

export type OwnerRow = CodeRow | LinkRow;

export type ParsedCodes = {
  readonly rows: readonly CodeRow[];
  /**
   * Rows that cannot be used, and columns that look misspelt. These are mistakes: a command refuses the file
   * before it reads anything.
   */
  readonly problems: readonly CodeProblem[];
  /** Columns that are not used but need not be a mistake, for example notes for people. */
  readonly warnings: readonly CodeProblem[];
  /** Required columns that the header lacks. If there are any, there are no rows. */
  readonly missingColumns: readonly string[];
};

/** Parses the text of codes.csv. The delimiter is a comma or a semicolon; a byte order mark is allowed. */
export function parseCodes(text: string): ParsedCodes {
  const warnings: CodeProblem[] = [];
  const read = readLines(text, { mayBePadded: true });
  const problems: CodeProblem[] = [...read.problems];
  const [header, ...lines] = read.lines;
  const names = (header?.record ?? []).map((name) => name.trim().toLowerCase());
  const without = (column: string) => ({ rows: [], problems, warnings, missingColumns: [column] });
  if (!names.includes('code')) return without('code');
  if (!names.some((name) => OWNER_COLUMNS.includes(name))) return without(OWNER_COLUMNS.join(' or '));
  for (const [index, name] of names.entries()) {
    if (name === '' || isColumn(name)) {
      if (name !== '' && names.indexOf(name) !== index) problems.push(repeatedColumn(name));
      continue;
    }
    const near = didYouMean(name, CODE_COLUMNS);
    if (near === null) warnings.push(unknownColumn(name));
    else problems.push(misspeltColumn(name, near));
  }
  const rows = lines.flatMap((line) => {
    const row = readRow(names, line);
    if ('reason' in row) problems.push(row);
    return 'reason' in row ? [] : [row];
  });
  return { rows, problems, warnings, missingColumns: [] };
}

/**
 * Parses one row that is in no file. Its line is 0. @returns the row, or the reason why it cannot be used.
 */
export function parseCodeCells(cells: CodeCells): CodeRow | CodeProblem {
  const record = CODE_COLUMNS.map((column) => cells[column] ?? '');
  return readRow(CODE_COLUMNS, { record, line: 0 });
}

function isColumn(name: string): name is CodeColumn {
  return (CODE_COLUMNS as readonly string[]).includes(name);
}

const OWNER_COLUMNS = ['influencer_handle', 'deal_id', 'collab_id'];

function readRow(names: readonly string[], { record, line }: Line): CodeRow | CodeProblem {
  const cell = (column: CodeColumn): string | null => {
    const value = (record[names.indexOf(column)] ?? '').trim();
    return names.includes(column) && value !== '' ? value : null;
  };
  const withAddress = names.findIndex((_, index) => hasAddress(record[index] ?? ''));
  if (withAddress !== -1) return addressIn(line, names[withAddress] ?? null);
  const code = cell('code');
  if (code === null || foldCode(code) === '')
    return {
      line,
      column: 'code',
      value: code,
      reason: 'The code is blank.',
      help: 'Write the code, or remove the row.',
    };
  const [handle, dealId, collabId] = [cell('influencer_handle'), cell('deal_id'), cell('collab_id')];
  const broken = findBroken(cell);
  if (broken !== null) return { line, ...broken };
  const target = targetOf({ handle, dealId, collabId });
  if (target === null)
    return {
      line,
      column: 'influencer_handle',
      value: null,
      reason: `${code} has no owner.`,
      help: NAME_OWNER,
    };
  const from = readLimit(cell('valid_from'), 'start_of_day');
  const to = readLimit(cell('valid_to'), 'end_of_day');
  if (from === 'bad') return badTime(line, 'valid_from', cell('valid_from'));
  if (to === 'bad') return badTime(line, 'valid_to', cell('valid_to'));
  if (from !== null && to !== null && isSurelyBefore(to, from))
    return {
      line,
      column: 'valid_to',
      value: cell('valid_to'),
      reason: `It ends before it begins: valid_from is ${cell('valid_from')}.`,
      help: 'Swap them, or correct the wrong one. A date without a time counts as a whole day.',
    };
  return {
    line,
    code,
    folded: foldCode(code),
    brandId: cell('brand_id'),
    handle,
    handleFolded: handle === null ? null : foldHandle(handle),
    dealId,
    collabId,
    target,
    from,
    to,
  };
}

/**
 * Creates the problem of a row with an e-mail address. Without this check the address would be stored and
 * sent.
 */
function addressIn(line: number, column: string | null): CodeProblem {
  return {
    line,
    column,
    value: null,
    reason: 'This is an e-mail address, which is personal data. The row is not used.',
    help: 'Name the influencer by handle, deal or collaboration, and write only the code.',
  };
}

/** Finds a handle or an id that contains a blank or a control character, and a brand that is not a number. */
function findBroken(cell: (column: CodeColumn) => string | null): Omit<CodeProblem, 'line'> | null {
  for (const column of ['influencer_handle', 'deal_id', 'collab_id'] as const) {
    const value = cell(column);
    if (value === null || !/[\s\p{Cc}]/u.test(value)) continue;
    const what = column === 'influencer_handle' ? 'A handle' : 'An id';
    const help =
      column === 'influencer_handle'
        ? 'Write the handle as in the address of the profile, not the display name.'
        : 'Write only the id, as the service shows it.';
    return { column, value, reason: `${what} cannot contain blanks.`, help };
  }
  const brand = cell('brand_id');
  if (brand === null || /^\d{1,18}$/.test(brand)) return null;
  return {
    column: 'brand_id',
    value: brand,
    reason: 'The id of a brand must be a whole number.',
    help: 'Write the id of the brand at the service, or leave it blank for the brand of the job.',
  };
}

/** Offsets from UTC range from -12 to +14 hours. */
const WIDEST_OFFSETS_MS = 26 * 3_600_000;

/**
 * True if the first limit is certainly not after the other. A local time and an instant are compared with a
 * margin that covers every time zone.
 */
function isSurelyBefore(one: ValidityTime, other: ValidityTime): boolean {
  const [oneMs, otherMs] = [one, other].map(({ text, isLocal }) =>
    Date.parse(`${text.replace(/ (?=[Z+-])/, '').replace(' ', 'T')}${isLocal ? 'Z' : ''}`),
  );
  if (oneMs === undefined || otherMs === undefined) return false;
  return oneMs + (one.isLocal === other.isLocal ? 0 : WIDEST_OFFSETS_MS) <= otherMs;
}

const NAME_OWNER = 'Fill in influencer_handle, deal_id or collab_id.';

/** Identifies the owner by the deal, or else the collaboration, or else the handle. */
function targetOf(owner: {
  handle: string | null;
  dealId: string | null;
  collabId: string | null;
}): string | null {
  if (owner.dealId !== null) return `deal:${owner.dealId}`;
  if (owner.collabId !== null) return `collab:${owner.collabId}`;
  return owner.handle === null ? null : `handle:${foldHandle(owner.handle)}`;
}

function readLimit(text: string | null, end: 'start_of_day' | 'end_of_day'): ValidityTime | null | 'bad' {
  return text === null ? null : (readValidityTime(text, end) ?? 'bad');
}

function badTime(line: number, column: string, value: string | null): CodeProblem {
  return {
    line,
    column,
    value,
    reason: 'This is not a readable date or time.',
    help: 'Write 2026-04-30, 2026-04-30 18:00, or 2026-04-30T18:00:00+02:00.',
  };
}

function unknownColumn(name: string): CodeProblem {
  return {
    line: 1,
    column: name,
    value: null,
    reason: 'The column is unknown and not used.',
    help: `Known columns: ${CODE_COLUMNS.join(', ')}.`,
  };
}

function misspeltColumn(name: string, near: string): CodeProblem {
  return {
    ...unknownColumn(name),
    help: `Did you mean "${near}"? Known columns: ${CODE_COLUMNS.join(', ')}.`,
  };
}

function repeatedColumn(name: string): CodeProblem {
  return {
    line: 1,
    column: name,
    value: null,
    reason: 'The column appears twice.',
    help: 'Remove one of them.',
  };
}
