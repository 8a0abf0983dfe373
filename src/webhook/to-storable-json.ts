import { maskAddresses } from '../model/mask-addresses.ts';

/** What TypeScript's library does not know yet (ECMAScript, "JSON.parse source text access"). */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
type ExactJson = { parse(text: string, reviver: Reviver): unknown; rawJSON(text: string): unknown };

/** Deeper than any payload; Postgres gives up long after. */
const MAX_DEPTH = 100;

/** Postgres takes exponents up to 131,071; an amount has none at all. */
const MAX_EXPONENT = 300;

/**
 * The body of an event as JSON text that Postgres takes, whatever was sent: numbers as they are written, e-mail addresses masked (they are
 * personal data), NUL and lone surrogates out. What is no JSON, or nested absurdly deep, becomes one JSON text.
 */
export function toStorableJson(text: string): string {
  if (depthOf(text) > MAX_DEPTH) return JSON.stringify(clean(text));
  const json = JSON as unknown as ExactJson;
  try {
    const value = json.parse(text, (_key, inner, context) => {
      if (typeof inner === 'string') return clean(inner);
      if (typeof inner === 'number') return exactNumber(json, inner, context?.source);
      return isRecord(inner) ? cleanKeys(inner) : inner;
    });
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(clean(text));
  }
}

function exactNumber(json: ExactJson, value: number, source = String(value)): unknown {
  const exponent = Math.abs(Number(/[eE](.+)$/.exec(source)?.[1] ?? 0));
  return exponent > MAX_EXPONENT ? source : json.rawJSON(source);
}

function clean(text: string): string {
  return maskAddresses(text.replaceAll('\u0000', '').toWellFormed());
}

function cleanKeys(record: Readonly<Record<string, unknown>>): unknown {
  const entries = Object.entries(record);
  if (entries.every(([key]) => clean(key) === key)) return record;
  return Object.fromEntries(entries.map(([key, value]) => [clean(key), value]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function isRawNumber(value: object): boolean {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

/** How deep brackets are nested, those in texts left out. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index];
    if (isText && sign === '\\') index += 1;
    else if (sign === '"') isText = !isText;
    else if (!isText && (sign === '{' || sign === '[')) depth += 1;
    else if (!isText && (sign === '}' || sign === ']')) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
