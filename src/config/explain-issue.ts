import type { z } from 'zod';
import type { Problem } from '../core/known-error.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { isSecretSetting } from './fields.ts';
import type { KnownKeys } from './known-keys.ts';
import type { ConfigPath, Positions } from './locate.ts';

type Issue = z.core.$ZodIssue;

/** Sections that were renamed, by their old name. */
const RENAMED: Readonly<Record<string, string>> = { contacts: 'customers' };

/** The places in a file, and the settings that it may contain. */
export type ExplainedFile = { readonly places: Positions; readonly knownKeys: KnownKeys };

/**
 * Converts an issue of zod to problems for a person: the place, what is written there, why it does not fit,
 * and how to fix it.
 */
export function explainIssue(issue: Issue, file: ExplainedFile): readonly Problem[] {
  const { places, knownKeys } = file;
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(issue.path, places.get([...issue.path, 'kind'])?.written);
    return issue.keys.map((key) => explainUnknownKey([...issue.path, key], places, known));
  }
  const meant = meantBranch(issue, places);
  if (meant !== null)
    return meant.flatMap((inner) => explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, file));
  const where = issue.code === 'invalid_key' ? places.whereKey(issue.path) : places.where(issue.path);
  return [{ where, ...describe(issue, file) }];
}

/**
 * For a setting that may be a word, a section or a list: the issues of the form that the file uses. Null if
 * that is unclear.
 */
function meantBranch(issue: Issue, places: Positions): readonly Issue[] | null {
  if (issue.code !== 'invalid_union' || issue.discriminator !== undefined || SPOKEN.has(issue.message))
    return null;
  const kind = places.get(issue.path)?.kind;
  const isOfSection = (branch: readonly Issue[]) =>
    branch.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys');
  const isOfItems = (branch: readonly Issue[]) => branch.every(({ path }) => typeof path[0] === 'number');
  return (
    issue.errors.find((branch) => {
      if (kind === 'section') return isOfSection(branch);
      return kind === 'list' ? isOfItems(branch) : branch.some(({ code }) => code === 'invalid_value');
    }) ?? null
  );
}

function explainUnknownKey(path: ConfigPath, places: Positions, known: readonly string[]): Problem {
  const key = String(path.at(-1));
  const parent = name(path.slice(0, -1));
  const near = (parent === '' && RENAMED[key]) || didYouMean(key, known);
  return {
    where: places.whereKey(path),
    message: `${parent === '' ? 'This file' : parent} has no setting "${key}".`,
    help: near === null ? `Remove it, or use one of: ${known.join(', ')}.` : `Did you mean "${near}"?`,
  };
}

function describe(issue: Issue, { places }: ExplainedFile): Omit<Problem, 'where'> {
  const what = name(issue.path);
  const located = places.get(issue.path);
  if (issue.code === 'invalid_key') {
    const help = 'Use at most 60 lower-case letters, digits, - and _, starting with a letter or digit.';
    return { message: `"${String(issue.path.at(-1))}" cannot be a name.`, help };
  }
  if (located === undefined) return { message: `${what} is missing.`, help: explainMissing(issue) };
  if (located.kind === 'nothing' || (located.kind === 'scalar' && located.written === '')) {
    return { message: `${what} is empty.`, help: `It should be ${expected(issue)}.` };
  }
  if (located.kind !== 'scalar') {
    const found = issue.code === 'too_small' ? `an empty ${located.kind}` : `a ${located.kind}`;
    return { message: `${what} is ${found}.`, help: `It should be ${expected(issue)}.` };
  }
  // A URL may contain a password.
  const isHidden = isSecretSetting(what) || what === 'api.url';
  const shown = isHidden ? 'a value' : JSON.stringify(located.written);
  const from = located.written.includes('${') ? ' (filled in from the environment)' : '';
  const words = wordsOf(issue);
  const near =
    (words.includes('true') ? YES_OR_NO.get(located.written.toLowerCase()) : undefined) ??
    didYouMean(located.written, words);
  const help =
    near === null
      ? `It should be ${expected(issue)}.`
      : `Did you mean "${near}"? It should be ${expected(issue)}.`;
  return { message: `${what} is ${shown}${from}, which does not fit.`, help };
}

/** Examples of settings without a default. */
const EXAMPLES: Readonly<Record<string, string>> = {
  uri: './exports/shopify/',
  layout: 'shopify-orders',
  source: 'shop-orders',
  brand_id: '4819',
};

function explainMissing(issue: Issue): string {
  const key = String(issue.path.at(-1));
  const parent = name(issue.path.slice(0, -1));
  const where = `Add \`${key}:\`${parent === '' ? '' : ` under ${parent}`}`;
  const example = EXAMPLES[key];
  return example === undefined
    ? `${where}: ${expected(issue)}.`
    : `${where}, for example \`${key}: ${example}\`.`;
}

/** Words for true and false in other configuration languages. */
const YES_OR_NO = new Map([
  ...['yes', 'on', 'y'].map((word) => [word, 'true'] as const),
  ...['no', 'off', 'n'].map((word) => [word, 'false'] as const),
]);

/** The allowed words, if there are few. */
function wordsOf(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  if (issue.code === 'invalid_type' && issue.expected === 'boolean') return ['true', 'false'];
  return issue.code === 'invalid_union' && issue.discriminator !== undefined ? kindsOf(issue) : [];
}

function kindsOf(issue: Extract<Issue, { code: 'invalid_union' }>): readonly string[] {
  return 'options' in issue ? (issue.options ?? []).map(String) : [];
}

/** The expected value, as the end of "It should be …". */
function expected(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? `a value of type ${issue.expected}`;
    case 'invalid_value':
      return `one of: ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array')
        return issue.origin === 'array' ? 'a list with at least one item' : 'text';
      return `${issue.minimum} or more`;
    case 'too_big':
      return issue.origin === 'string'
        ? `text of at most ${issue.maximum} characters`
        : `${issue.maximum} or less`;
    case 'invalid_union':
      if (issue.discriminator !== undefined) return `one of: ${kindsOf(issue).join(', ')}`;
      return SPOKEN.get(issue.message) ?? 'another value';
    case 'invalid_format':
      return issue.format === 'date'
        ? 'a day, like 2026-06-01'
        : (PATTERNS.get(issue.message) ?? 'another value');
    default:
      return 'another value';
  }
}

/** Expected values by the `error` of a union. */
const SPOKEN = new Map([
  ['id', 'the id of a brand, a number or text'],
  ['names', 'a name or a list of names'],
  ['addresses', 'an e-mail address or a list of them'],
]);

/** Expected values by the `error` of a pattern. */
const PATTERNS = new Map([
  ['time', 'a time of day in quotes, like "08:00"'],
  ['amount', 'an amount with a point, like 12.50'],
  ['month', 'a month, like 2026-10'],
  ['percent', 'a number of percent from 1 to 100, or 0: 42.5 (0.425 may mean 42.5 or 0.425 percent)'],
  ['duration', 'a number with m, h or d, like 30m, 24h or 7d'],
]);

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a section: indented "key: value" lines',
  record: 'a section with one indented entry for each name',
  array: 'a list: [a, b]',
};

/** A path as text, such as `jobs.attribute-orders.include[0]`. */
function name(path: ConfigPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
