/** What Node has and TypeScript's library does not know yet (ECMAScript, "JSON.parse source text access"). */
type ExactJson = {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context?: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

/**
 * JSON text as a value, each part of it as `revive` makes it, from the inside out.
 *
 * @param revive gets each value and, for a number, the digits as they are written in the text.
 * @throws SyntaxError where the text is no JSON.
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
 * JSON text as a value in which each number stays as it is written: `JSON.stringify` writes `12.50` again, not `12.5`. Such a number is an
 * opaque object, see `numberText`.
 *
 * @throws SyntaxError where the text is no JSON.
 */
export function parseExactJson(text: string): unknown {
  return parseJsonWith(text, (value, digits) => (digits === undefined ? value : exactNumber(digits)));
}

/** A number that `JSON.stringify` writes as these digits. */
export function exactNumber(digits: string): unknown {
  return exactJson().rawJSON(digits);
}

/** The digits of a number, exact ones as they were written; null for what is no number. */
export function numberText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return exactJson().isRawJSON(value) ? value.rawJSON : null;
}

/** An object with members: no list, no null, no exact number. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !exactJson().isRawJSON(value)
  );
}

/** JSON as people read it, numbers as they were written; text that is no JSON as it came. */
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
