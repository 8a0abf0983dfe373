import { saysNoValue } from '../../core/text/fold.ts';
import { hasAddress } from '../../core/text/mask-addresses.ts';
import { foldOrderId } from '../../core/text/order-key.ts';
import { linearPattern } from '../layout/linear-pattern.ts';
import { type Fault, missingValue } from '../map/fault.ts';

/** Matches ids that need no further checks. Digits with a point or an exponent are checked for damage. */
const PLAIN = /^[#A-Za-z]?[0-9A-Za-z_/-]+$/;
const DAMAGED = /^[+-]?(?:\d+[.,]\d+E[+-]?\d+|\d+E\+\d+)$|^#{3,}$/i;
/** An id that a spreadsheet took for an amount. */
const AS_NUMBER = /^\d+[.,]0+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
/** Blanks and quotes before and after an id, which folding removes. */
const OUTER = /^[\s'"=]+|(?<![\s'"])[\s'"]+$/g;
const MAX_CHARS = 200;
/**
 * Room for combining marks, which normalisation joins with their letters. Longer cells are refused without
 * further checks.
 */
const MAX_CELL_CHARS = 2_000;
/** An id with a digit is a value. Most ids have one, so the others are looked at more closely. */
const NUMBER = /[0-9]/;

const SPREADSHEET_DAMAGE: Fault = {
  code: 'spreadsheet_damage',
  reason: 'A spreadsheet has rounded this id, so digits are lost.',
  help: 'Use the file as it was exported, without saving it in a spreadsheet. Or format the column as text first.',
};
const TURNED_INTO_NUMBER: Fault = {
  ...SPREADSHEET_DAMAGE,
  reason: 'A spreadsheet has turned this id into a number with decimals.',
};
const CONTROL_CHARACTER: Fault = {
  code: 'control_character',
  reason: 'The id contains an invisible or damaged character.',
  help: 'Export the file again. If many rows have this, check the encoding of the source.',
};
const TOO_LONG: Fault = {
  code: 'id_too_long',
  reason: `The id is longer than ${MAX_CHARS} characters.`,
  help: 'Check that the cells of this row are in the right columns.',
};

const NO_VALUE: Fault = {
  code: 'no_value',
  reason: 'Programs write this where there is no value, so it is no id.',
  help: 'Export the file again with the ids. Rows without an id cannot be told apart.',
};

const OTHER_ID: Fault = {
  code: 'other_id',
  reason: 'This is not the id of an order, as the layout writes them.',
  help: 'Export orders only, without rows of drafts, refunds or items. If these are orders, correct order_id_pattern in a copy of the layout.',
};

const ADDRESS: Fault = {
  code: 'address_in_value',
  reason: 'This is an e-mail address in the place of an id or a name. It is personal data and is not stored.',
  help: 'Check that the cells of this row are in the right columns, and that the layout fits the export.',
};

/**
 * Returns a fault if a text contains an e-mail address, which would otherwise be stored and sent as part of
 * an id or a name.
 */
export function findAddress(text: string): Fault | null {
  return hasAddress(text) ? ADDRESS : null;
}

/**
 * Parses an id as text: folds it (`foldOrderId`), and keeps every digit and leading zero. Refuses `1.23E+12` and
 * `5000000000001.0`, because their original value cannot be known, `null` and `N/A`, and e-mail addresses.
 */
export function parseId(text: string): string | Fault {
  if (text.length <= MAX_CHARS && PLAIN.test(text))
    return NUMBER.test(text) || !saysNoValue(text) ? text : NO_VALUE;
  if (text.length > MAX_CELL_CHARS && text.trim().length > MAX_CELL_CHARS) return TOO_LONG;
  const id = foldOrderId(text);
  if (id === '') return missingValue('id');
  // Folding turns a line break inside an id into a blank, which would hide that the cell is damaged.
  if (CONTROL.test(text.replace(OUTER, ''))) return CONTROL_CHARACTER;
  if (DAMAGED.test(id)) return SPREADSHEET_DAMAGE;
  if (AS_NUMBER.test(id)) return TURNED_INTO_NUMBER;
  if (saysNoValue(id)) return NO_VALUE;
  return id.length > MAX_CHARS ? TOO_LONG : (findAddress(id) ?? id);
}

/** Returns an order id, or why the text is none. */
export type IdParser = (text: string) => string | Fault;

/**
 * Creates the parser of order ids of a layout.
 *
 * @param pattern regular expression whose first group is the id, for formats that wrap it
 * (`gid://shopify/Order/5601`). An id that it does not match is a fault. Null: the cell is the id.
 */
export function orderIdParser(pattern: string | null): IdParser {
  if (pattern === null) return parseId;
  const search = linearPattern(pattern);
  return (text) => {
    const written = parseId(text);
    if (typeof written !== 'string') return written;
    const [id = ''] = search.matches(written);
    return id === '' ? OTHER_ID : id;
  };
}
