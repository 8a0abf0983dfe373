import { InvalidArgumentError } from 'commander';
import { COLUMN_ROLES, type ColumnRole, type StatedRoles } from '../../core/layout.ts';
import { foldCode, foldHeader } from '../../core/text/fold.ts';
import type { GivenBy, Parameters } from '../command.ts';

/** `VALUE` for every source, or `SOURCE=VALUE` for one. */
export type SourceAnswers = ReadonlyMap<string, string>;

/** The settings that the files of a source cannot tell; null if a setting is not needed. */
export type SourceAnswer = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly platform: string | null;
  readonly dateOrder: 'MDY' | 'DMY' | null;
  readonly decimalMark: '.' | ',' | null;
  readonly consent: 'not_recorded' | null;
  /** `any`: the export does not say which orders were paid, and every order counts. */
  readonly status: 'any' | null;
  /** Whether renewals of subscriptions are credited. Null: it has none. */
  readonly renewals: 'credit' | 'exclude' | null;
  /** Null: the brand of all sources. */
  readonly brand: string | null;
  /** Why files may lack columns that can only lower money. */
  readonly missingColumns: string | null;
};

export const NOTHING: SourceAnswer = {
  timeZone: null,
  currency: null,
  platform: null,
  dateOrder: null,
  decimalMark: null,
  consent: null,
  status: null,
  renewals: null,
  brand: null,
  missingColumns: null,
};

/** Key of an answer for every source. */
export const EVERY_SOURCE = '';

/** What the files of a source cannot tell has an option of the same name as in `SourceAnswer`. */
export const TAKES = [
  ['[places...]', 'folders, files or S3 addresses (s3://bucket/prefix/) with exports'],
  ['--out <folder>', 'where pipeline.yaml, codes.csv and .env.example are written', undefined, '.'],
  ['--brand <id>', 'brand that orders are credited for', collect()],
  ['--time-zone <zone>', 'time zone of times without one, such as Europe/Amsterdam', collect()],
  ['--currency <code>', 'currency of amounts without one, such as EUR', collect()],
  ['--platform <name>', 'name of the shop platform, such as shopify; never change it later', collect()],
  ['--date-order <order>', 'MDY or DMY, if the dates do not show it', collect(['MDY', 'DMY'])],
  [
    '--decimal-mark <mark>',
    '"." or ",": the mark before the decimals, if no amount shows it',
    collect(['.', ',']),
  ],
  [
    '--consent <answer>',
    'not_recorded, if an export of customers does not say who consented and none of them refused',
    collect(['not_recorded']),
  ],
  [
    '--status <answer>',
    'any, if no column says which orders were paid and every order of the export was',
    collect(['any']),
  ],
  [
    '--renewals <answer>',
    'credit or exclude: whether renewals of subscriptions count',
    collect(['credit', 'exclude']),
  ],
  [
    '--missing-columns <reason>',
    'why every order counts in full, if an export lacks columns such as refunds',
    collect(),
  ],
  [
    '--column <role>',
    'what an unclear column is: "Name of the column=refunded", =unused if it does not matter, order_id=Shop+Receipt for ids of two columns',
    collectRoles,
  ],
  [
    '--paid <word>',
    'a state of orders that means paid, if no list knows it; "Column=word" if two columns have it',
    collectWords,
  ],
  ['--consent-yes <word>', 'a word of customers that means consent, if no list knows it', collectWords],
  [
    '--save-layout <name>',
    'use and write the layout of this name that init has shown for rows that add up to orders',
    collectWords,
  ],
  ['--owner <code>', 'who owns a code, once you have confirmed it: MIRA10=mira.glow', collectOwners],
  ['--encoding <name>', 'encoding of files whose letters do not show it, such as shift_jis'],
  ['--yes', 'write the files without being asked'],
  ['--check', 'compare an existing configuration with its newest files instead'],
] as const satisfies Parameters;

/** The options of `init`. */
export type InitOptions = Omit<GivenBy<typeof TAKES>, 'places'>;

/** Parses `CODE=HANDLE`. */
function collectOwners(
  text: string,
  before: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, string> {
  const at = text.lastIndexOf('=');
  const [code, handle] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
  if (code === '' || handle === '' || /\s/.test(handle))
    throw new InvalidArgumentError('It should be CODE=HANDLE.');
  return new Map([...(before ?? []), [foldCode(code), handle]]);
}

function collectWords(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/**
 * Parses `HEADER=ROLE`, an option that can be given once per column, or `HEADER+HEADER=order_id`. `ROLE=HEADER` is
 * taken, too, if only the first is a role.
 */
function collectRoles(text: string, before: StatedRoles | undefined): StatedRoles {
  const roleOf = (word: string): ColumnRole | undefined => COLUMN_ROLES.find((one) => one === word.trim());
  const [last, first] = [text.lastIndexOf('='), text.indexOf('=')];
  const isSwapped = roleOf(text.slice(last + 1)) === undefined;
  const role = roleOf(isSwapped ? text.slice(0, Math.max(first, 0)) : text.slice(last + 1));
  const header = foldHeader(isSwapped ? text.slice(first + 1) : text.slice(0, Math.max(last, 0)));
  if (role === undefined || header === '')
    throw new InvalidArgumentError(`It should be "COLUMN=ROLE", with one of: ${COLUMN_ROLES.join(', ')}.`);
  // Ids that only several columns together make unique: order_id=Shop+Receipt.
  const parts = role === 'order_id' ? header.split('+').map(foldHeader) : [header];
  return new Map([...(before ?? []), ...parts.map((part) => [part, role] as const)]);
}

/** Creates the parser of an option that can be given once per source. */
function collect(choices: readonly string[] | null = null) {
  return (text: string, before: SourceAnswers | undefined): SourceAnswers => {
    const [, source = EVERY_SOURCE, value = ''] = /^(?:([a-z0-9][a-z0-9_-]*)=)?(.*)$/s.exec(text) ?? [];
    const found = choices?.find((choice) => choice.toLowerCase() === value.toLowerCase()) ?? value;
    if (value.trim() === '' || (choices !== null && !choices.includes(found)))
      throw new InvalidArgumentError(
        choices === null ? 'It should be a value, or SOURCE=VALUE.' : `It should be ${choices.join(' or ')}.`,
      );
    return new Map([...(before ?? []), [source, found.trim()]]);
  };
}
