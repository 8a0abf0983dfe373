/**
 * JSON functions that Node has but TypeScript's library does not declare yet (ECMAScript, "JSON.parse source
 * text access").
 */
type ExactJson = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

const last: { text: string; value: unknown } = { text: '', value: undefined };

/**
 * Parses JSON text; undefined if it is not JSON. The text that was parsed last is not parsed again, because an answer is
 * judged first and read then. So do not change the value.
 */
export function parseJson(text: string): unknown {
  if (text === last.text) return last.value;
  last.text = text;
  try {
    last.value = JSON.parse(text);
  } catch {
    last.value = undefined;
  }
  return last.value;
}

/** Parses JSON text as an object; null if it is not one. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}

/**
 * Parses JSON text and replaces each value by the result of `revive`, from the inside out.
 *
 * @param revive receives each value and, for a number, the digits as written in the text.
 * @throws SyntaxError if the text is not JSON.
 */
export function parseJsonWith(
  text: string,
  revive: (value: unknown, digits: string | undefined) => unknown,
): unknown {
  return exactJson().parse(text, (_key, value, context) =>
    revive(value, typeof value === 'number' ? (context?.source ?? String(value)) : undefined),
  );
}

/**
 * Parses JSON text and keeps each number as it is written: `JSON.stringify` writes `12.50` again and not
 * `12.5`. Such a number is an opaque object; see `numberText`.
 *
 * @throws SyntaxError if the text is not JSON.
 */
export function parseExactJson(text: string): unknown {
  return parseJsonWith(text, (value, digits) => (digits === undefined ? value : exactNumber(digits)));
}

/** Creates a number that `JSON.stringify` writes with exactly these digits. */
export function exactNumber(digits: string): unknown {
  return exactJson().rawJSON(digits);
}

/** Returns the digits of a number, as written for exact numbers. Returns null for other values. */
export function numberText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return exactJson().isRawJSON(value) ? value.rawJSON : null;
}

/** True for an object with members: not a list, not null, not an exact number. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !exactJson().isRawJSON(value)
  );
}

/**
 * True if an object in a JSON text has two members of one name, of which parsing keeps only the last.
 *
 * @param parsed the value of the text.
 */
export function hasRepeatedMember(text: string, parsed: unknown): boolean {
  return countColons(text) !== countMembers(parsed);
}

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];

/** Counts the colons outside of strings: each is one written member. */
function countColons(text: string): number {
  let count = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (code === BACKSLASH) at += 1;
    else if (code === COLON && !isInString) count += 1;
  }
  return count;
}

/** Counts without recursion: an answer may be nested deeper than the stack. */
function countMembers(value: unknown): number {
  let count = 0;
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one !== 'object' || one === null) continue;
    const inner = Object.values(one);
    if (!Array.isArray(one)) count += inner.length;
    for (const part of inner) if (typeof part === 'object') left.push(part);
  }
  return count;
}

/** Formats JSON for people and keeps numbers as written. Returns text that is not JSON unchanged. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(parseExactJson(text), null, 2);
  } catch {
    return text;
  }
}

function exactJson(): ExactJson {
  return JSON as unknown as ExactJson;
}
