/** What Node has and TypeScript's library does not know yet (ECMAScript, "JSON.parse source text access"). */
type SourceReviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
type ExactJson = {
  parse(text: string, reviver: SourceReviver): unknown;
  rawJSON(text: string): unknown;
};

/**
 * JSON text as a value in which each number stays as it is written: `JSON.stringify` writes `12.50` again, not `12.5`. Such a number is an
 * opaque object, so calculate with nothing in it.
 *
 * @throws SyntaxError where the text is no JSON.
 */
export function parseExactJson(text: string): unknown {
  const json = JSON as unknown as ExactJson;
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined ? json.rawJSON(context.source) : value,
  );
}

/** An answer as people read it, numbers as they were written; text that is no JSON as it came. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(parseExactJson(text), null, 2);
  } catch {
    return text;
  }
}
