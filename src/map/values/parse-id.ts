import { hasAddress } from '../../model/text/mask-addresses.ts';
import { toNfc } from '../../model/text/normal-form.ts';
import type { Fault } from '../fault.ts';
import { missingValue } from '../fault.ts';

/** Nothing in it to look at closer. Digits with a point or an E are left to the tests for damage. */
const PLAIN = /^[#A-Za-z]?[0-9A-Za-z_/-]+$/;
const DAMAGED = /^[+-]?\d+(?:[.,]\d+)?E\+\d+$|^\d+[.,]0+$|^#{3,}$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const MAX_CHARS = 200;
/** Room for marks that are put together with their letters; what is longer is looked at no closer. */
const MAX_CELL_CHARS = 2_000;

const SPREADSHEET_DAMAGE: Fault = {
  code: 'spreadsheet_damage',
  reason: 'A spreadsheet has rounded this id, so digits are lost.',
  help: 'Use the file as it was exported, without saving it in a spreadsheet. Or format the column as text first.',
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

const ADDRESS: Fault = {
  code: 'address_in_value',
  reason: 'This is an e-mail address in the place of an id or a name. It is personal data and is not stored.',
  help: 'Check that the cells of this row are in the right columns, and that the layout fits the export.',
};

/** An address that would be kept and sent as part of an id or a name. */
export function findAddress(text: string): Fault | null {
  return hasAddress(text) ? ADDRESS : null;
}

/**
 * An id as text: NFC, outer blanks and a spreadsheet's leading apostrophe taken off, every digit and leading zero kept.
 * `1.23E+12` and `5000000000001.0` are refused: what they once were cannot be known. So is an e-mail address.
 */
export function parseId(text: string): string | Fault {
  if (text.length <= MAX_CHARS && PLAIN.test(text)) return text;
  if (text.length > MAX_CELL_CHARS && text.trim().length > MAX_CELL_CHARS) return TOO_LONG;
  const id = toNfc(text).trim().replace(/^'/, '').trim();
  if (id === '') return missingValue('id');
  if (CONTROL.test(id)) return CONTROL_CHARACTER;
  if (DAMAGED.test(id)) return SPREADSHEET_DAMAGE;
  return id.length > MAX_CHARS ? TOO_LONG : (findAddress(id) ?? id);
}
