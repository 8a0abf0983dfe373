import type { Verdict } from '../../core/http/exchange.ts';
import type { ServiceDescription, StatedYes } from '../../core/http/service-description.ts';
import { isObject, numberText } from '../../core/text/exact-json.ts';
import { readErrorText } from '../read-error.ts';
import { valueAt } from './member-paths.ts';
import { specifiedService } from './schema.ts';

/** How much of a body is searched for the text of a sign. */
const MAX_READ = 4_000;

/** How a member that names the result says that the request failed. */
const FAILED = /^(error|fail|reject|refus|denied|declin|invalid)/i;

type Answered = { readonly status: number; readonly text: string };

/**
 * Decides what an answer says about its request, by the description of the service. A sign with a text counts before
 * one without, because it is about fewer answers. What the description does not name is no yes.
 *
 * @param yes what a yes of this operation looks like; null if only the specification says.
 */
export function judge(
  { status, text }: Answered,
  service: ServiceDescription = specifiedService,
  yes: StatedYes | null = null,
): Verdict {
  const { answers } = service;
  const sign = findSign({ status, text }, service);
  const isSuccess = status >= 200 && status <= 299;
  const parsed = parse(text);
  const about = {
    isStated: (sign?.text ?? null) !== null,
    isOwnWord: false,
    reason: null,
    isNotFound: answers.not_found.includes(status),
    isOutOfCredits: answers.no_credits.includes(status),
  };
  if (isSuccess && sign === null) {
    const no = isObject(parsed) ? findNo(parsed, text, answers) : null;
    if (no !== null) return { ...about, kind: 'no', reason: no };
    if (answers.doubt.includes(status)) return { ...about, kind: 'unclear' };
    const isYes = yes === null || saysYes(yes, status, parsed);
    return { ...about, kind: isYes ? 'yes' : 'unclear', isStated: yes !== null && isYes };
  }
  const reason = readErrorText(text, answers.reasons);
  const kind = answers.doubt.includes(status) && sign === null ? 'unclear' : (sign?.kind ?? 'other');
  return { ...about, kind, isOwnWord: isObject(parsed) && reason !== null, reason };
}

type FoundSign = {
  readonly kind: 'rate_limited' | 'key_refused' | 'refused';
  readonly text: string | null;
};

function findSign(
  { status, text }: Answered,
  { answers, authentication }: ServiceDescription,
): FoundSign | null {
  let plain: FoundSign | null = null;
  for (const [kind, signs] of [
    ['rate_limited', answers.rate_limited],
    ['key_refused', authentication.refused],
    ['refused', answers.refused],
  ] as const)
    for (const sign of signs) {
      if (sign.status !== status) continue;
      if (sign.text === null) plain ??= { kind, text: null };
      else if (text.slice(0, MAX_READ).toLowerCase().includes(sign.text.toLowerCase()))
        return { kind, text: sign.text };
    }
  return plain;
}

/**
 * Finds a no in the body of a 2xx answer: a member that must say yes and does not, a result that is a failure, or a
 * filled error. Whatever else the body names is then no confirmation. What a member says that is an object itself counts,
 * too, but its results do not: they may be the state of a deal.
 *
 * @returns what the service says, on one line; null if nothing in the body says no.
 */
function findNo(
  answer: Readonly<Record<string, unknown>>,
  text: string,
  rules: ServiceDescription['answers'] = specifiedService.answers,
): string | null {
  const parts = [answer, ...Object.values(answer).filter(isObject)];
  const isYes = Object.entries(rules.yes).every(([path, values]) =>
    parts.every((part) => {
      const value = valueAt(part, path);
      return value === undefined || isOneOf(value, values);
    }),
  );
  const isFailed = rules.no_if_failed.some((path) => saysFailed(valueAt(answer, path)));
  const isError = rules.no_if_filled.some((path) => parts.some((part) => isFilled(valueAt(part, path))));
  if (isYes && !isFailed && !isError) return null;
  return readErrorText(text, rules.reasons) ?? 'the answer says that it did not succeed';
}

function saysFailed(value: unknown): boolean {
  const number = numberText(value);
  if (number !== null) return Number(number) >= 400 && Number(number) <= 599;
  return typeof value === 'string' && FAILED.test(value);
}

function saysYes({ statuses, path, values }: StatedYes, status: number, parsed: unknown): boolean {
  if (statuses !== null && !statuses.includes(status)) return false;
  if (path === null) return true;
  const value = valueAt(parsed, path);
  return values === null ? isFilled(value) : value !== undefined && isOneOf(value, values);
}

function isOneOf(value: unknown, values: readonly unknown[]): boolean {
  const number = numberText(value);
  return values.some((one) => one === value || (number !== null && numberText(one) === number));
}

/** False for a value that says nothing: null, false, zero, and what is blank or empty. */
export function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (value === undefined || value === null || value === false || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
