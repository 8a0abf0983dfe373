/** A sum of exact decimals: `units` of 10 to the power of minus `scale`. */
export type ExactSum = { units: bigint; scale: number };

/** An exponent beyond this is no amount of money; it would only cost memory. */
const MAX_EXPONENT = 30;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Adds a JSON number, given as text, without a float in between. An absurd exponent adds nothing. */
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

/** So many zeros behind it. */
function shifted(units: bigint, digits: number): bigint {
  return digits === 0 ? units : units * 10n ** BigInt(digits);
}

/** `1249.00`. */
export function exactText({ units, scale }: ExactSum): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/**
 * How a number member of a JSON object is written in its text, byte for byte: `1249.00`, not 1249.
 *
 * @param json the text of the object, known to be valid.
 */
export function readNumberText(json: string, member: string): string | null {
  const name = `"${member}"`;
  const at = json.indexOf(name);
  // Without an escape, a nested object or a second mention, the text after the name is the value; else the parser has to tell.
  const isPlain =
    at !== -1 && at === json.lastIndexOf(name) && !json.includes('\\') && json.lastIndexOf('{') < at;
  if (isPlain && json.indexOf('{') === json.lastIndexOf('{')) {
    const match = /^\s*:\s*(-?\d[\d.eE+-]*)/.exec(json.slice(at + name.length, at + name.length + 64));
    if (match?.[1] !== undefined) return match[1];
  }
  return readByParser(json, member);
}

type ReviverContext = { readonly source?: string };

function readByParser(json: string, member: string): string | null {
  const sources = new Map<unknown, string>();
  let found: string | null = null;
  // A reviver sees a nested member before that of the outermost object, and `this` is the object that holds it.
  const revive = function (this: unknown, key: string, value: unknown, context?: ReviverContext): unknown {
    if (key === member && typeof value === 'number' && context?.source !== undefined)
      sources.set(this, context.source);
    if (key === '') found = sources.get(value) ?? null;
    return value;
  };
  JSON.parse(json, revive);
  return found;
}
