import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** As many problems as one message names. */
const SHOWN = 5;

/**
 * Explains which fields are invalid and why, without any received value: `order_id: is missing; brand_id:
 * should be a number, not text`.
 */
export function explainIssues(issues: readonly Issue[]): string {
  return issues.flatMap(explainEach).slice(0, SHOWN).join('; ');
}

function explainEach(issue: Issue): readonly string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${[...issue.path, key].join('.')}: is not known`);
  const within = issue.code === 'invalid_union' ? meantBranch(issue) : undefined;
  if (within !== undefined)
    return within.flatMap((inner) => explainEach({ ...inner, path: [...issue.path, ...inner.path] }));
  const why = explainIssue(issue);
  if (issue.path.length > 0) return [`${issue.path.join('.')}: ${why}`];
  return [issue.code === 'invalid_type' ? `the value ${why}` : why];
}

/**
 * Explains what is wrong with the value at one path, as a text that can follow its name. Messages that the
 * contract itself defines are used as they are. JSON has no `undefined`, so an undefined value is missing.
 */
export function explainIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type': {
      const received = /received (\w+)$/.exec(issue.message)?.[1];
      if (received === 'undefined') return 'is missing';
      // A number that is not whole is a number, too.
      const isPart = issue.expected === 'int' && received === 'number';
      const found = received === undefined || isPart ? undefined : TYPES[received];
      return `should be ${TYPES[issue.expected] ?? issue.expected}${found === undefined ? '' : `, not ${found}`}`;
    }
    case 'invalid_value':
      return `should be ${issue.values.length === 1 ? '' : 'one of: '}${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has members that are not known: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return explainUnion(issue);
    case 'too_small':
      return explainSize(issue, issue.minimum, 'at least', 'more than');
    case 'too_big':
      return explainSize(issue, issue.maximum, 'at most', 'less than');
    default:
      return issue.message;
  }
}

/** What JSON calls a type, in words. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

/** Units in which the size of a value is counted, singular and plural. */
const UNITS: Readonly<Record<string, readonly [string, string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
};

type Size = Extract<Issue, { readonly code: 'too_small' | 'too_big' }>;

function explainSize(
  { origin, code, inclusive = true }: Size,
  limit: number | bigint,
  including: string,
  excluding: string,
): string {
  const units = UNITS[origin];
  if (units === undefined) return `should be ${inclusive ? including : excluding} ${limit}`;
  if (code === 'too_small' && Number(limit) === 1) return 'is empty';
  return `should have ${including} ${limit} ${units[Number(limit) === 1 ? 0 : 1]}`;
}

type Union = Extract<Issue, { readonly code: 'invalid_union' }>;

/**
 * Returns the branch of a union that matches the form of the value: all its issues are about members.
 * Undefined if no branch matches, or if the contract has its own message.
 */
function meantBranch({ message, errors }: Union): readonly Issue[] | undefined {
  if (!message.startsWith('Invalid')) return undefined;
  return errors.find((branch) => branch.every(({ path }) => path.length > 0));
}

/** The forms that the value may have. */
function explainUnion({ message, errors }: Union): string {
  if (!message.startsWith('Invalid')) return message;
  const forms = errors.flat().map(explainIssue);
  return forms.length === 0 ? 'has a value that is not known' : [...new Set(forms)].join(', or ');
}
