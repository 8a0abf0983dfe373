import { type CsvError, parse } from 'csv-parse/sync';
import { foldCode, foldHandle } from '../model/fold-code.ts';
import { hasAddress } from '../model/mask-addresses.ts';
import type { CodeProblem } from '../model/orders-report.ts';
import { type Moment, readMoment } from './read-moment.ts';

/** Columns of codes.csv, in any order; only `code` and one of handle, deal and collaboration must be there. */
const CODE_COLUMNS = [
  'code',
  'brand_id',
  'influencer_handle',
  'deal_id',
  'collab_id',
  'valid_from',
  'valid_to',
] as const;
type CodeColumn = (typeof CODE_COLUMNS)[number];

/** Whose a code or a link is, and when. */
type Ownership = {
  readonly line: number;
  readonly brandId: string | null;
  readonly handle: string | null;
  readonly handleFolded: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** What tells two owners apart. */
  readonly target: string;
  readonly from: Moment | null;
  readonly to: Moment | null;
};

/** One usable row. */
export type CodeRow = Ownership & { readonly code: string; readonly folded: string };

/** A custom link, matched by orders whose links hold all of `linkFolded`. No file has such rows. */
export type LinkRow = Ownership & { readonly link: string; readonly linkFolded: readonly string[] };

export type OwnerRow = CodeRow | LinkRow;

export type ParsedCodes = {
  readonly rows: readonly CodeRow[];
  readonly problems: readonly CodeProblem[];
  /** Columns that the header should have and hasn't; then there are no rows. */
  readonly missingColumns: readonly string[];
};

type Line = { readonly record: readonly string[]; readonly line: number };

/** Reads the text of codes.csv: comma or semicolon, with or without byte order mark. */
export function parseCodes(text: string): ParsedCodes {
  const problems: CodeProblem[] = [];
  const [header, ...lines] = readLines(text, problems);
  const names = (header?.record ?? []).map((name) => name.trim().toLowerCase());
  if (!names.includes('code')) return { rows: [], problems, missingColumns: ['code'] };
  if (!names.some((name) => OWNER_COLUMNS.includes(name)))
    return { rows: [], problems, missingColumns: [OWNER_COLUMNS.join(' or ')] };
  for (const name of names) {
    if (name !== '' && !(CODE_COLUMNS as readonly string[]).includes(name))
      problems.push(unknownColumn(name));
  }
  const rows = lines.flatMap((line) => {
    const row = readRow(names, line);
    if ('reason' in row) problems.push(row);
    return 'reason' in row ? [] : [row];
  });
  return { rows, problems, missingColumns: [] };
}

const OWNER_COLUMNS = ['influencer_handle', 'deal_id', 'collab_id'];

function readLines(text: string, problems: CodeProblem[]): readonly Line[] {
  const delimiter = /^[^\n]*;/.test(text) && !/^[^\n;]*,/.test(text) ? ';' : ',';
  let isUnclosed = false;
  const skipped = (error: CsvError | undefined) => {
    if (error?.code === 'CSV_QUOTE_NOT_CLOSED') isUnclosed = true;
    else problems.push(notCsv(Number(error?.lines ?? 0), 'The row is not valid CSV.'));
  };
  const parsed: unknown = parse(text, {
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip: (error) => void skipped(error),
  });
  // With `info` each record comes with its place, which the types of csv-parse don't say.
  const records = parsed as { record: string[]; info: { lines: number } }[];
  // It swallows all that follows, and is noticed only at the end of the file.
  if (isUnclosed) problems.push(notCsv((records.at(-1)?.info.lines ?? 0) + 1, UNCLOSED));
  return records
    .map(({ record, info }) => ({ record, line: info.lines }))
    .filter(({ record }) => record.some((cell) => cell.trim() !== ''));
}

const UNCLOSED = 'A quote opens here and is never closed: nothing from here to the end of the file is used.';

function notCsv(line: number, reason: string): CodeProblem {
  return { line, column: null, value: null, reason, help: 'Check its quotes.' };
}

function readRow(names: readonly string[], { record, line }: Line): CodeRow | CodeProblem {
  const cell = (column: CodeColumn): string | null => {
    const value = (record[names.indexOf(column)] ?? '').trim();
    return names.includes(column) && value !== '' ? value : null;
  };
  if (record.length > names.length && record.slice(names.length).some((extra) => extra.trim() !== ''))
    return {
      line,
      column: null,
      value: null,
      reason: 'The row has more cells than the header.',
      help: MIND_QUOTES,
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
  const target = targetOf({ handle, dealId, collabId });
  if (target === null)
    return {
      line,
      column: 'influencer_handle',
      value: null,
      reason: `Nobody owns ${code}.`,
      help: NAME_OWNER,
    };
  const from = readLimit(cell('valid_from'), 'start_of_day');
  const to = readLimit(cell('valid_to'), 'end_of_day');
  if (from === 'bad') return badMoment(line, 'valid_from', cell('valid_from'));
  if (to === 'bad') return badMoment(line, 'valid_to', cell('valid_to'));
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

/** A code or an owner that is an address would be kept and sent as it is. */
function addressIn(line: number, column: string | null): CodeProblem {
  return {
    line,
    column,
    value: null,
    reason: 'An e-mail address stands here: it is personal data, and the row is not used.',
    help: 'Name the influencer by handle, deal or collaboration, and write the code alone.',
  };
}

const MIND_QUOTES = 'Put a value that contains the delimiter in quotes.';
const NAME_OWNER = 'Fill in influencer_handle, deal_id or collab_id.';

/** Deal, else collaboration, else handle. */
function targetOf(owner: {
  handle: string | null;
  dealId: string | null;
  collabId: string | null;
}): string | null {
  if (owner.dealId !== null) return `deal:${owner.dealId}`;
  if (owner.collabId !== null) return `collab:${owner.collabId}`;
  return owner.handle === null ? null : `handle:${foldHandle(owner.handle)}`;
}

function readLimit(text: string | null, end: 'start_of_day' | 'end_of_day'): Moment | null | 'bad' {
  return text === null ? null : (readMoment(text, end) ?? 'bad');
}

function badMoment(line: number, column: string, value: string | null): CodeProblem {
  return {
    line,
    column,
    value,
    reason: 'This is no date or time that can be read.',
    help: 'Write 2026-04-30, 2026-04-30 18:00, or 2026-04-30T18:00:00+02:00.',
  };
}

function unknownColumn(name: string): CodeProblem {
  return {
    line: 1,
    column: name,
    value: null,
    reason: 'The column is not known and not used.',
    help: `Known are ${CODE_COLUMNS.join(', ')}.`,
  };
}
