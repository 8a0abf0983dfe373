import { isObject, numberText, parseExactJson } from '../core/json/exact-json.ts';

/** An exact decimal sum: `units` × 10^-`scale`. */
export type ExactSum = { units: bigint; scale: number };

/** No amount of money has a larger exponent; it would only waste memory. */
const MAX_EXPONENT = 30;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Adds a JSON number in text form without converting it to a float. Ignores a number with an absurd exponent.
 */
export function addExact(sum: ExactSum, text: string): void {
  const [, sign, whole = '0', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const shift = Number(exponent);
  if (Math.abs(shift) > MAX_EXPONENT) return;
  const scale = Math.max(0, fraction.length - shift);
  const units = shifted(BigInt(whole + fraction), Math.max(0, shift - fraction.length));
  if (scale > sum.scale) {
    sum.units = shifted(sum.units, scale - sum.scale);
    sum.scale = scale;
  }
  const aligned = shifted(units, sum.scale - scale);
  sum.units += sign === '-' ? -aligned : aligned;
}

/** Appends zeros to the number. */
function shifted(units: bigint, digits: number): bigint {
  return digits === 0 ? units : units * 10n ** BigInt(digits);
}

/** The sum as text, for example `1249.00`. */
export function exactText({ units, scale }: ExactSum): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/**
 * Reads the exact text of a number member of a JSON object: `1249.00`, not 1249.
 *
 * @param json the text of the object; it must be valid JSON.
 * @returns null if the object has no such number.
 */
export function readNumberText(json: string, member: string): string | null {
  const name = `"${member}"`;
  const at = json.indexOf(name);
  // If there is no escape, no nested object and only one mention of the name, the text after the name is the
  // value. Otherwise only a parser can tell.
  const isPlain =
    at !== -1 && at === json.lastIndexOf(name) && !json.includes('\\') && json.lastIndexOf('{') < at;
  if (isPlain && json.indexOf('{') === json.lastIndexOf('{')) {
    const match = /^\s*:\s*(-?\d[\d.eE+-]*)/.exec(json.slice(at + name.length, at + name.length + 64));
    if (match?.[1] !== undefined) return match[1];
  }
  const value = parseExactJson(json);
  return isObject(value) ? numberText(value[member]) : null;
}
