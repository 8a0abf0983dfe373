const MAX_CHARACTERS = 300;

/** How much of a text is looked at: an HTML page of a proxy can be long, and masking takes time. */
const MAX_READ = 4_000;

/**
 * The text with which the service says what went wrong, for people: addresses, and what is named or looks like a key, masked (the key in use
 * is masked by the client, wherever it stands), one line, 300 characters at most.
 * It can stand in `message`, `error`, `error_message`, `errors[]`, or be the body itself when that is not JSON.
 *
 * @returns null where there is none.
 */
export function readErrorText(body: string): string | null {
  const text = textOf(parse(body), body);
  return text === null ? null : toSafeText(text);
}

/** Masks e-mail addresses and what looks like a key, folds blanks and control characters, and cuts to 300 characters. Null when empty. */
function toSafeText(text: string): string | null {
  const folded = mask(text.slice(0, MAX_READ).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' '))
    .replace(/ +/g, ' ')
    .trim();
  if (folded === '') return null;
  const characters = Array.from(folded.slice(0, 2 * MAX_CHARACTERS + 2));
  return characters.length <= MAX_CHARACTERS
    ? folded
    : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`;
}

const NOT_JSON = Symbol('not JSON');

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return NOT_JSON;
  }
}

function textOf(value: unknown, body: string): string | null {
  if (value === NOT_JSON) return /^\s*</.test(body) ? withoutTags(body.slice(0, MAX_READ)) : body;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return listed(value);
  const { message, error, error_message: errorMessage, errors } = value as Record<string, unknown>;
  for (const candidate of [message, error, errorMessage, errors]) {
    const text = spoken(candidate);
    if (text !== null) return text;
  }
  return null;
}

/** A text, an object that has one (`{error: {message}}`), or a list or map of either (`{errors: {field: [text]}}`). */
function spoken(value: unknown, depth = 0): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (typeof value !== 'object' || value === null || depth > 3) return null;
  if (Array.isArray(value)) return listed(value, depth);
  const { message, msg, error, error_message: errorMessage, detail } = value as Record<string, unknown>;
  for (const candidate of [message, msg, error, errorMessage, detail]) {
    const text = spoken(candidate, depth + 1);
    if (text !== null) return text;
  }
  const named = Object.entries(value).flatMap(([field, item]) => {
    const text = Array.isArray(item) || depth === 0 ? spoken(item, depth + 1) : null;
    return text === null ? [] : [`${field}: ${text}`];
  });
  return named.length === 0 ? null : named.join('; ');
}

function listed(values: readonly unknown[], depth = 0): string | null {
  const texts = values.slice(0, 20).map((value) => spoken(value, depth + 1));
  const found = texts.filter((text) => text !== null);
  return found.length === 0 ? null : found.join('; ');
}

function withoutTags(html: string): string {
  return html
    .replace(/<(script|style|head)\b[\s\S]*?<\/\1\s*>/gi, (part) => titleOf(part))
    .replace(/<[^>]*>/g, ' ');
}

function titleOf(part: string): string {
  return /<title[^>]*>([^<]*)<\/title>/i.exec(part)?.[1] ?? ' ';
}

/** How an @ is written in an address of a page, in the text of a page, and in JSON that could not be read. */
const WRITTEN_AT = /%40|\\u0040|&#0*64;|&#x0*40;|&commat;/gi;

function mask(text: string): string {
  return (
    text
      .replace(WRITTEN_AT, '@')
      .replace(/[^\s<>"'(),:;[\]{}=]+@[^\s<>"'(),:;[\]{}]+/g, '[address]')
      // What is named as a key …
      .replace(
        /((?:api[-_ ]?)?key|token|secret|signature|authorization|bearer|password)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi,
        '$1$2[key]',
      )
      // … and what looks like one: long, with letters and digits.
      .replace(/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}/g, '[key]')
  );
}
