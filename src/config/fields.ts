import { z } from 'zod';

/**
 * Kinds of values in the file. Numbers may come as text, since the environment only has text; text may come as a number,
 * since YAML reads `4819` as one. The reader keeps every digit, so neither direction loses anything.
 */

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
}

/** For text of which a number is one form. */
function numberToText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

/** A whole number within bounds. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(textToNumber, z.int().min(min).max(max));
}

/** Any number within bounds. */
export function anyNumber(min: number, max: number) {
  return z.preprocess(textToNumber, z.number().min(min).max(max));
}

/** Text that says something. */
export function text(maxLength = 500) {
  return z.preprocess(numberToText, z.string().trim().min(1).max(maxLength));
}

/** An amount or percentage: kept as text, so that it stays exact, and written like any number. @param error what it is, for explain-issue. */
export function exactNumber(pattern: RegExp, error?: string) {
  const options = error === undefined ? undefined : { error };
  return z.preprocess(
    numberToText,
    z
      .string()
      .regex(pattern, options)
      .meta({ [WRITTEN_AS_NUMBER]: true }),
  );
}

/** Marks text that a person writes as a number, for the JSON Schema. */
export const WRITTEN_AS_NUMBER = 'x-written-as-number';

/** Text that may be empty, also as nothing at all after the colon. */
export function textOrEmpty() {
  return z.preprocess((value) => numberToText(value ?? ''), z.string().trim());
}

/** true or false, also from the environment. */
export function yesOrNo() {
  return z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());
}

/** A day of the calendar, as YYYY-MM-DD. */
export function day() {
  return z.iso.date();
}

/** An id of the service: text to us, written with or without quotes. Ids are opaque and never parsed. */
export function id() {
  return z.union([z.int(), z.string().trim().min(1).max(200)], { error: 'id' }).transform(String);
}

/**
 * One value or a list of them; always a list to the program.
 *
 * @param options.error what explainIssue knows the union by, if the issues of its branches do not say enough.
 */
export function oneOrMore<Item extends z.ZodType>(item: Item, options: { readonly error?: string } = {}) {
  return z
    .union([item, z.array(item).min(1)], options)
    .transform((value): readonly z.output<Item>[] => (Array.isArray(value) ? value : [value]));
}

/** A name that people type in commands: of a source or a job. */
export const NAME = /^[a-z0-9][a-z0-9_-]{0,59}$/;

const SECRETS: readonly string[] = [
  'api.key',
  'database.url',
  'database.bi_url',
  'customers.hash_key',
  'customers.previous_hash_key',
  'webhooks.secret',
  'webhooks.previous_secret',
  'console.auth.oidc.client_secret',
  'openlineage.api_key',
];

/** The address of a channel lets whoever has it write to the channel. */
const SECRET_PATHS: readonly RegExp[] = [
  /^console\.auth\.(users|tokens)([.[]\d+\]?\.(password_hash|token))?$/,
  /^notify\.channels\.[^.]+\.(url|secret|password|routing_key)$/,
];

/** Whether the value of a setting (`console.auth.tokens.0.token`) is never shown, also when it stands in the file in plain. */
export function isSecretSetting(path: string): boolean {
  return SECRETS.includes(path) || SECRET_PATHS.some((pattern) => pattern.test(path));
}
