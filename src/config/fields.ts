import { z } from 'zod';

/**
 * Schemas of values in the file. A number may be given as text, because environment variables are text. Text
 * may be given as a number, because YAML reads `4819` as one. The reader keeps every digit, so neither
 * conversion loses anything.
 */

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function textToNumber(value: unknown): unknown {
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : value;
}

/** Converts a number to text, for settings that may look like a number. */
function numberToText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

/** An integer within bounds. */
export function wholeNumber(min: number, max: number) {
  return z.preprocess(textToNumber, z.int().min(min).max(max));
}

/** Any number within bounds. */
export function anyNumber(min: number, max: number) {
  return z.preprocess(textToNumber, z.number().min(min).max(max));
}

/** Text that is not blank. */
export function text(maxLength = 500) {
  return z.preprocess(numberToText, z.string().trim().min(1).max(maxLength));
}

/**
 * An amount or percentage. It is kept as text, so that it stays exact, and written like any number.
 * @param error key of the expected value in explain-issue.
 */
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

/** Text that may be empty or left out. */
export function textOrEmpty() {
  return z.preprocess((value) => numberToText(value ?? ''), z.string().trim()).prefault('');
}

/** A boolean, also as text from the environment. */
export function yesOrNo() {
  return z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean());
}

/** A section of the file. If it is left out, each of its settings has its default. */
export function section<Settings extends z.ZodRawShape>(description: string, settings: Settings) {
  const schema = z.strictObject(settings);
  // Every setting of such a section has a default, or its schema refuses the empty section.
  return schema.prefault({} as z.input<typeof schema>).describe(description);
}

/** A setting without a default: null if it is left out. */
export function optional<Value extends z.ZodType>(value: Value) {
  return value.nullable().default(null);
}

/** A date as YYYY-MM-DD. */
export function day() {
  return z.iso.date();
}

/** An id of the service, written with or without quotes. Ids are opaque text and never parsed. */
export function id() {
  return z.union([z.int(), z.string().trim().min(1).max(200)], { error: 'id' }).transform(String);
}

/**
 * One value or a list of values. The output is always a list.
 *
 * @param options.error key of the expected value in explain-issue, if the issues of the branches do not
 *   suffice.
 */
export function oneOrMore<Item extends z.ZodType>(item: Item, options: { readonly error?: string } = {}) {
  return z
    .union([item, z.array(item).min(1)], options)
    .transform((value): readonly z.output<Item>[] => (Array.isArray(value) ? value : [value]));
}

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** A section of the file under the names that the program uses: `max_bytes` is `maxBytes`. */
export type CamelCased<Section> = {
  readonly [Key in keyof Section as CamelCase<Key> & PropertyKey]: Section[Key];
};

/** Renames the settings of a section. What they contain stays as it is. */
export function camelCased<Section extends object>(section: Section): CamelCased<Section> {
  const renamed = Object.entries(section).map(([name, value]) => [camelCase(name), value]);
  return Object.fromEntries(renamed) as CamelCased<Section>;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a source or job, which people type in commands. */
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
];

/**
 * Patterns of further secrets. A channel's URL is one, because anyone who has it can write to the channel.
 */
const SECRET_PATHS: readonly RegExp[] = [
  /^console\.auth\.(users|tokens)([.[]\d+\]?\.(password_hash|token))?$/,
  /^notify\.channels\.[^.]+\.(url|secret|password|routing_key)$/,
];

/**
 * @returns true if the value of a setting (`console.auth.tokens.0.token`) is never shown, even if the file
 *   contains it in plain text.
 */
export function isSecretSetting(path: string): boolean {
  return SECRETS.includes(path) || SECRET_PATHS.some((pattern) => pattern.test(path));
}
