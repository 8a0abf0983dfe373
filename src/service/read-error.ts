import { parseJson } from '../core/json/exact-json.ts';
import { replaceAddresses } from '../core/text/mask-addresses.ts';
import { valueAt } from './description/member-paths.ts';
import { specifiedService } from './description/schema.ts';

const MAX_CHARACTERS = 300;

/** How many characters of a text are read: a proxy's HTML page can be long, and masking takes time. */
const MAX_READ = 4_000;

/**
 * Reads the service's error message, for display on one line of at most 300 characters. E-mail addresses and
 * anything that is named like a key or looks like one are masked. (The client masks the key in use
 * everywhere.) The message is the body itself if that is not JSON.
 *
 * @param reasons paths of the members that may contain the message, in this order.
 * @returns null if there is no message.
 */
export function readErrorText(
  body: string,
  reasons: readonly string[] = specifiedService.answers.reasons,
): string | null {
  const text = textOf(parseJson(body), body, reasons);
  return text === null ? null : toSafeText(text);
}

/**
 * Makes text of the service safe to show and to store: masks e-mail addresses and anything that looks like a key,
 * folds blanks and control characters, and cuts to 300 characters.
 * @returns null if nothing is left.
 */
export function toSafeText(text: string): string | null {
  const folded = mask(
    text
      .slice(0, MAX_READ)
      .toWellFormed()
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' '),
  )
    .replace(/ +/g, ' ')
    .trim();
  if (folded === '') return null;
  const characters = Array.from(folded.slice(0, 2 * MAX_CHARACTERS + 2));
  return characters.length <= MAX_CHARACTERS
    ? folded
    : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`;
}

function textOf(value: unknown, body: string, reasons: readonly string[]): string | null {
  if (value === undefined) return /^\s*</.test(body) ? withoutTags(body.slice(0, MAX_READ)) : body;
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return listed(value);
  for (const path of reasons) {
    const text = spoken(valueAt(value, path));
    if (text !== null) return text;
  }
  return null;
}

/**
 * Finds the message in a text, in an object that has one (`{error: {message}}`), or in a list or map of
 * either (`{errors: {field: [text]}}`).
 */
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

/** An address in a message, also in one that quotes JSON or a link. */
const ADDRESS = /[^\s<>"'(),:;[\]{}=]+@[^\s<>"'(),:;[\]{}]+/g;

function mask(text: string): string {
  return (
    replaceAddresses(text, { written: ADDRESS, unescaped: ADDRESS }, () => '[address]')
      // Values that are named as a key.
      .replace(
        /((?:api[-_ ]?)?key|token|secret|signature|authorization|bearer|password)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi,
        '$1$2[key]',
      )
      // Text that looks like a key: long, with letters and digits.
      .replace(/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}/g, '[key]')
  );
}
