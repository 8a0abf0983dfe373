import type { LayoutField } from '../../src/core/layout.ts';
import { foldHandle, saysNoValue } from '../../src/core/text/fold.ts';
import { maskAddresses } from '../../src/core/text/mask-addresses.ts';
import { smellOfPerson } from '../../src/intake/customers/map/consent-words.ts';
import { mayTurnDown } from '../../src/intake/layout/column-words.ts';
import type { Column } from '../../src/intake/layout/resolve-header.ts';
import { rowExcluder } from '../../src/intake/map/exclude-rows.ts';
import { type Fault, MAX_TEXT_CHARS, missingValue, TOO_LONG } from '../../src/intake/map/fault.ts';
import { firstFilled, type MapRowsOptions } from '../../src/intake/map/map-rows.ts';
import { cleanText, foldWord } from '../../src/intake/values/clean-text.ts';
import { findAddress, parseId } from '../../src/intake/values/parse-id.ts';

/**
 * A creator as stated in one row of a list. Null means that the row does not state the value. Percentages are
 * decimal text, 0 to 100.
 */
export type StatedCreator = {
  /** In the original spelling, without `@`. */
  readonly handle: string;
  readonly handleFolded: string;
  /** `instagram`, `tiktok`, `youtube`, or another word in lower case. */
  readonly platform: string;
  /** Digits only. */
  readonly brandId: string | null;
  readonly dealflowId: string | null;
  readonly dealId: string | null;
  readonly stage: number | null;
  readonly isActive: boolean | null;
  readonly note: string | null;
  readonly code: string | null;
  readonly codePercent: string | null;
  readonly commissionPercent: string | null;
  readonly customLink: string | null;
  readonly customLinkTarget: string | null;
};

/**
 * Parses one cell into its value or a fault. A value must not be an object with a property `help`, because
 * that marks a fault.
 */
type Parse<Value> = (text: string) => Value | Fault;

/** Thrown while a row is read, and caught in `readCreators`. */
class FaultyCell extends Error {
  readonly fault: Fault;
  readonly column: Column | null;

  constructor(fault: Fault, column: Column | null) {
    super(fault.code);
    this.fault = fault;
    this.column = column;
  }
}

/**
 * Reads rows of creators. Reads only the fields that a deal needs, so that other personal data stays in the
 * file.
 */
export const readCreators: MapRowsOptions<StatedCreator>['open'] = (header, layout) => {
  const { fields } = header;
  const { status } = layout;
  const exclude = rowExcluder(header, layout, WILLING);
  const parseStatus: Parse<boolean> = (text) => {
    const word = foldWord(text);
    return STATUSES[status.words[word] ?? word] ?? BAD_STATUS;
  };
  return ({ cells }) => {
    const excluded = exclude(cells);
    if (excluded !== null) return excluded;
    function find<Value>(field: LayoutField, parse: Parse<Value>): Value | null {
      const filled = firstFilled(cells, fields[field]);
      if (filled === null) return null;
      const value = saysNoValue(filled.text) ? NO_VALUE : parse(filled.text);
      if (isFault(value)) throw new FaultyCell(value, filled.column);
      return value;
    }
    function need<Value>(field: LayoutField, value: Value | null, what: string): Value {
      if (value === null) throw new FaultyCell(missingValue(what), fields[field][0] ?? null);
      return value;
    }
    try {
      const named = need('influencer_handle', find('influencer_handle', parseHandle), 'handle');
      const written = find('platform', parsePlatform);
      const platform = need('platform', written ?? named.platform, 'platform');
      if (named.platform !== null && named.platform !== platform)
        throw new FaultyCell(OTHER_PLATFORM, fields.platform[0] ?? null);
      if (ON_PLATFORM[platform]?.test(named.handle) === false)
        throw new FaultyCell(NOT_ON_PLATFORM, fields.influencer_handle[0] ?? null);
      const row: StatedCreator = {
        handle: named.handle,
        handleFolded: foldHandle(named.handle),
        platform,
        brandId: find('brand_id', (text) => (/^\d{1,15}$/.test(text) ? text : BAD_BRAND)),
        dealflowId: find('dealflow_id', parseId),
        dealId: find('deal_id', parseDeal),
        stage: find('stage', (text) => (/^\d{1,6}$/.test(text) ? Number(text) : BAD_STAGE)),
        isActive: find('is_active', parseStatus),
        note: find('note', parseNote),
        code: find('code', parseText),
        codePercent: find('code_percent', parsePercent),
        commissionPercent: find('commission_percent', parsePercent),
        customLink: find('custom_link', parseText),
        customLinkTarget: find('custom_link_target', parseText),
      };
      return { kind: 'row', row };
    } catch (error) {
      if (!(error instanceof FaultyCell)) throw error;
      return { kind: 'fault', fault: error.fault, column: error.column };
    }
  };
};

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'help' in value;
}

type NamedCreator = { readonly handle: string; readonly platform: string | null };

/**
 * Accepts everything that the platforms allow in handles, and more. A handle contains no blanks and no
 * slashes.
 */
const HANDLE = /^[\p{L}\p{N}\p{M}._-]{1,100}$/u;
/** What the platforms allow that have fewer characters: `10-Mar` is `mar.10` in a spreadsheet. */
const ON_PLATFORM: Readonly<Record<string, RegExp>> = {
  instagram: /^[a-z0-9._]{1,30}$/i,
  tiktok: /^[a-z0-9._]{1,24}$/i,
};
const ADDRESS = /^(?:https?:\/\/)?(?:[\w-]+\.)*(instagram\.com|tiktok\.com|youtube\.com|youtu\.be)\/(.*)$/i;
/** First path segments of addresses that lead to a post, a list or a page of the platform, or to a channel by its id. */
const NO_PROFILE =
  /^(p|reel|reels|stories|explore|watch|shorts|playlist|channel|video|t|tv|direct|accounts|live|embed|hashtag|results|feed|post)$/i;

/** Parses a handle with or without `@`, or the address of a profile. The address also names the platform. */
function parseHandle(text: string): NamedCreator | Fault {
  const address = ADDRESS.exec(cleanText(text));
  if (address === null) {
    const id = parseId(text);
    if (typeof id !== 'string') return id;
    const handle = id.replace(/^@+/, '');
    return HANDLE.test(handle) ? { handle, platform: null } : BAD_HANDLE;
  }
  const [, host = '', path = ''] = address;
  const [beforeQuery = ''] = path.split(/[?#]/, 1);
  const [first = '', second = ''] = beforeQuery.split('/');
  const isBehindWord = /^(c|user)$/i.test(first);
  const handle = decode(isBehindWord ? second : first).replace(/^@+/, '');
  const platform = host.toLowerCase().replace('.com', '');
  // A short link, such as vm.tiktok.com/ZMabc, has no handle.
  const isPost =
    NO_PROFILE.test(first) || platform === 'youtu.be' || (platform === 'tiktok' && !isNamed(first));
  return isPost || !HANDLE.test(handle) ? NO_PROFILE_ADDRESS : { handle, platform };
}

function isNamed(segment: string): boolean {
  return decode(segment).startsWith('@');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A stray % cannot be part of a handle, so the caller refuses the text.
  }
}

const PLATFORMS: Readonly<Record<string, string>> = {
  ig: 'instagram',
  insta: 'instagram',
  tt: 'tiktok',
  tik_tok: 'tiktok',
  yt: 'youtube',
  you_tube: 'youtube',
};

/**
 * The contract does not say which platforms the service allows, so words other than the three platforms are
 * sent as they are.
 */
function parsePlatform(text: string): string | Fault {
  const word = foldWord(text);
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(word)) return BAD_PLATFORM;
  return PLATFORMS[word] ?? word;
}

/** Parses the id of a deal, or the address of its page. */
function parseDeal(text: string): string | Fault {
  const id = parseId(text);
  return typeof id === 'string' ? (/\/deal\/([^/?#]+)/.exec(id)?.[1] ?? id) : id;
}

const STATUSES: Readonly<Record<string, boolean>> = {
  active: true,
  yes: true,
  true: true,
  1: true,
  live: true,
  current: true,
  enabled: true,
  inactive: false,
  no: false,
  false: false,
  0: false,
  paused: false,
  ended: false,
  archived: false,
  former: false,
  disabled: false,
  on_hold: false,
};

/**
 * Parses `15`, `15%` or `12,5 %`. A number below 1 without a percent sign is refused, because it may be a
 * share, as spreadsheets write percentages, or a percentage.
 */
function parsePercent(text: string): string | Fault {
  const [, digits, sign] = /^(\d{1,3}(?:[.,]\d{1,6})?)\s*(%?)$/.exec(text) ?? [];
  if (digits === undefined) return BAD_PERCENT;
  const decimal = digits.replace(',', '.');
  if (Number(decimal) > 100) return BAD_PERCENT;
  return sign === '' && Number(decimal) > 0 && Number(decimal) < 1 ? UNCLEAR_PERCENT : decimal;
}

/** Parses a code, a link or its target. */
function parseText(text: string): string | Fault {
  const clean = cleanText(text);
  if (clean.length > MAX_TEXT_CHARS) return TOO_LONG;
  return findAddress(clean) ?? clean;
}

const MAX_NOTE_CHARS = 5_000;

/** Parses a note. Every e-mail address in it is masked before it is stored. */
function parseNote(text: string): string | Fault {
  const note = maskAddresses(cleanText(text));
  return note.length > MAX_NOTE_CHARS ? NOTE_TOO_LONG : note;
}

const NO_VALUE: Fault = {
  code: 'no_value',
  reason: 'Programs write this where there is no value.',
  help: 'Fill in the value, or clear the cell if there is none: the code and the link of a deal cannot be changed later.',
};
const BAD_HANDLE: Fault = {
  code: 'bad_handle',
  reason: 'This is not a handle: handles have no blanks.',
  help: 'Write the handle, with or without @, or the address of the profile. Check that the layout names the right column.',
};
const NO_PROFILE_ADDRESS: Fault = {
  code: 'no_profile',
  reason: 'This address does not name a profile by its handle.',
  help: 'Write the handle, or the address of the profile, for example https://www.tiktok.com/@mia.glow',
};
const NOT_ON_PLATFORM: Fault = {
  code: 'bad_handle',
  reason: 'Handles of this platform have only letters from A to Z, digits, dots and underscores.',
  help: 'Copy the handle from the profile: a spreadsheet may have made a date of it. Check that the layout names the right column.',
};
const ANSWER_UNKNOWN: Fault = {
  code: 'unknown_kind',
  reason: 'The layout does not say whether a creator with this word gets a deal.',
  help: 'Add the word to a rule for this column under exclusions of the layout: under unless if such creators get one, else under equals.',
};
const WILLING: Parameters<typeof rowExcluder>[2] = {
  mayExclude: (header) => mayTurnDown(header) || smellOfPerson(header) === 'refusal',
  mayMean: 'that a creator gets no deal',
  lost: 'Creators who declined or were not accepted would get deals, and the service cannot remove deals.',
  help: 'Say in a layout of your own which of its words get a deal: extends: generic-creators, and exclusions: [{ reason: declined, columns: [Application status], equals: [declined], unless: [approved] }]. Or remove these creators and the column from the list.',
  unknown: ANSWER_UNKNOWN,
};
const OTHER_PLATFORM: Fault = {
  code: 'other_platform',
  reason: 'The profile address and the platform of the row do not match.',
  help: 'Correct the platform or the address; a creator on two platforms has two rows.',
};
const BAD_PLATFORM: Fault = {
  code: 'bad_platform',
  reason: 'This is not a known platform.',
  help: 'Write one platform in each row: instagram, tiktok or youtube.',
};
const BAD_BRAND: Fault = {
  code: 'bad_brand',
  reason: 'The id of a brand is a whole number.',
  help: 'Take the id from bi.brands, or leave the cell blank for the brand of the job.',
};
const BAD_STAGE: Fault = {
  code: 'bad_stage',
  reason: 'The stage of a deal is a whole number.',
  help: 'Write the number of the stage in its dealflow, or leave the cell blank.',
};
const BAD_STATUS: Fault = {
  code: 'unknown_status',
  reason: 'This word does not say whether the deal is active.',
  help: 'Write active or inactive, or translate the word in the layout: status: { words: { word: active } }',
};
const BAD_PERCENT: Fault = {
  code: 'bad_percent',
  reason: 'This is no percentage from 0 to 100.',
  help: 'Write it as 15 or 15%.',
};
const UNCLEAR_PERCENT: Fault = {
  code: 'unclear_percent',
  reason: 'A number below 1 may be a share (0.15 for 15%) or a percentage (0.15%).',
  help: 'Write it with a percent sign: 15% or 0.15%.',
};
const NOTE_TOO_LONG: Fault = {
  code: 'note_too_long',
  reason: `The note is longer than ${MAX_NOTE_CHARS} characters.`,
  help: 'Shorten it, or check that the cells of this row are in the right columns.',
};
