import type { AnswerDoubt, Verdict } from '../../core/http/exchange.ts';
import { hasRepeatedMember, isObject, numberText, parseJson } from '../../core/json/exact-json.ts';
import type { Operation } from '../contract/operation.ts';
import { readErrorText } from '../read-error.ts';
import { memberAt, valueAt } from './member-paths.ts';
import { type ServiceDescription, type Sign, type StatedYes, specifiedService } from './schema.ts';

/** How much of a body is searched for the text of a sign. */
const MAX_READ = 4_000;

/** How a member that names the result says that the request failed. */
const FAILED = /^(error|fail|reject|refus|denied|declin|invalid)/i;

/** Words of an answer to an order that the service has already. */
const REPEATED = /^(already|duplicate|exist|ignored)/;

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
  const rules = rulesOf(service);
  const sign = findSign({ status, text }, rules);
  const isSuccess = status >= 200 && status <= 299;
  const parsed = parseJson(text);
  const about = {
    isStated: (sign?.text ?? null) !== null,
    isOwnWord: false,
    reason: null,
    isNotFound: answers.not_found.includes(status),
    isOutOfCredits: answers.no_credits.includes(status),
  };
  if (isSuccess && sign === null) {
    const no = isObject(parsed) ? findNo(parsed, rules) : undefined;
    if (no !== undefined) return { ...about, kind: 'no', reason: whyNo([no, parsed], service) };
    if (answers.doubt.includes(status)) return { ...about, kind: 'unclear' };
    if (parsed !== undefined && hasRepeatedMember(text, parsed))
      return { ...about, kind: 'unclear', doubts: [{ why: 'that has a member twice', word: null }] };
    if (yes !== null) {
      const isYes = saysYes(yes, status, parsed);
      return { ...about, kind: isYes ? 'yes' : 'unclear', isStated: isYes };
    }
    const doubts = isObject(parsed) ? findDoubts(parsed, rules) : [];
    return { ...about, kind: 'yes', ...(doubts.length > 0 && { doubts }) };
  }
  const reason = readErrorText(text, answers.reasons);
  const kind = answers.doubt.includes(status) && sign === null ? 'unclear' : (sign?.kind ?? 'other');
  return { ...about, kind, isOwnWord: isObject(parsed) && reason !== null, reason };
}

/** The first doubt of an answer that is about none of the words with which its operation usually answers. */
export function findDoubt(
  { doubts = [] }: Verdict,
  { usualWords }: Pick<Operation, 'usualWords'>,
): string | undefined {
  if (usualWords === 'any') return undefined;
  return doubts.find(({ word }) => word === null || !usualWords.includes(word))?.why;
}

/** What a description says of answers, in the form in which each answer is compared with it. */
type Rules = {
  readonly signs: readonly {
    readonly kind: 'rate_limited' | 'key_refused' | 'refused';
    readonly status: number;
    /** In lower case. */
    readonly text: string | null;
  }[];
  readonly yes: readonly { readonly names: readonly string[]; readonly values: readonly unknown[] }[];
  readonly filled: readonly (readonly string[])[];
  readonly failed: readonly (readonly string[])[];
  readonly reasons: readonly (readonly string[])[];
  /** Texts are in lower case. */
  readonly done: ReadonlySet<unknown>;
  readonly doubtful: ReadonlySet<string>;
  /** The words of doubt in texts that were read before. */
  readonly known: Map<string, readonly string[]>;
};

const prepared = new WeakMap<ServiceDescription, Rules>();

/** Prepares the rules once for each description, because posting judges every answer by them. */
function rulesOf(service: ServiceDescription): Rules {
  const known = prepared.get(service);
  if (known !== undefined) return known;
  const { answers, authentication } = service;
  const split = (path: string) => path.split('.');
  const lower = (kind: Rules['signs'][number]['kind'], signs: readonly Sign[]) =>
    signs.map(({ status, text }) => ({ kind, status, text: text?.toLowerCase() ?? null }));
  // A service that ignores a repeated order says so of one that it has credited: once.
  const mayRepeat = service.duplicate_orders === 'ignored';
  const isDoubtful = (word: string) => !mayRepeat || !REPEATED.test(word);
  const rules: Rules = {
    signs: [
      ...lower('rate_limited', answers.rate_limited),
      ...lower('key_refused', authentication.refused),
      ...lower('refused', answers.refused),
    ],
    yes: Object.entries(answers.yes).map(([path, values]) => ({ names: split(path), values })),
    filled: answers.no_if_filled.map(split),
    failed: answers.no_if_failed.map(split),
    reasons: answers.reasons.map(split),
    done: new Set([...answers.done.map(folded), ...(mayRepeat ? ['duplicate', 'ignored', 'exists'] : [])]),
    doubtful: new Set(answers.doubt_if_said.map((word) => word.toLowerCase()).filter(isDoubtful)),
    known: new Map(),
  };
  prepared.set(service, rules);
  return rules;
}

function findSign({ status, text }: Answered, { signs }: Rules): Rules['signs'][number] | null {
  let plain: Rules['signs'][number] | null = null;
  for (const sign of signs) {
    if (sign.status !== status) continue;
    if (sign.text === null) plain ??= sign;
    else if (text.slice(0, MAX_READ).toLowerCase().includes(sign.text)) return sign;
  }
  return plain;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Finds what in the body of a 2xx answer says no: a member that must say yes and does not, a result that is a failure, or a
 * filled error. Whatever else the body names is then no confirmation. What a member says that is an object itself counts,
 * too, but its results do not: they may be the state of a deal.
 *
 * @returns the answer, or the member of it that says no; undefined if nothing does.
 */
function findNo(answer: Members, rules: Rules): Members | undefined {
  if (rules.failed.some((names) => saysFailed(memberAt(answer, names))) || deniesItself(answer, rules))
    return answer;
  for (const name in answer) {
    const part = answer[name];
    if (typeof part === 'object' && isObject(part) && deniesItself(part, rules)) return part;
  }
  return undefined;
}

/** The error that says no, else the message, unless that says yes: an answer may have both. */
function whyNo(parts: readonly unknown[], service: ServiceDescription): string {
  const { no_if_filled: filled, reasons } = service.answers;
  const said = parts.map((part) => readErrorText(toText(part) ?? '', [...filled, ...reasons]));
  const why = said.find((one) => one !== null && !saysDone(one, rulesOf(service)));
  return why ?? 'the answer says that it did not succeed';
}

function deniesItself(part: Members, { yes, filled }: Rules): boolean {
  for (const { names, values } of yes) {
    const value = memberAt(part, names);
    if (value !== undefined && !isOneOf(value, values)) return true;
  }
  for (const names of filled) if (isFilled(memberAt(part, names))) return true;
  return false;
}

/**
 * Finds what in an answer is not known to mean that the request was carried out: a result with another value than the
 * known ones, a reason with a word of doubt, a member whose name is one and that is not empty, a result such as
 * `created: false` or `orders_added: 0`, and one of several results that says no.
 */
function findDoubts(answer: Members, rules: Rules): readonly AnswerDoubt[] {
  const found: AnswerDoubt[] = [];
  for (const names of rules.failed) {
    const value = memberAt(answer, names);
    if (value === undefined || saysDone(value, rules)) continue;
    const word = folded(value);
    found.push({ why: `with an unknown ${names.join('.')}`, word: typeof word === 'string' ? word : null });
  }
  for (const names of rules.reasons) {
    const value = memberAt(answer, names);
    if (!isFilled(value)) continue;
    const said = typeof value === 'string' ? value : toText(value);
    if (said === null) found.push({ why: `whose ${names.join('.')} cannot be read`, word: null });
    else
      for (const word of findWords(said, rules))
        found.push({ why: `whose ${names.join('.')} says "${word}"`, word });
  }
  for (const name in answer) {
    const value = answer[name];
    const words = isFilled(value) ? findWords(name, rules) : findDenied(name, value, rules);
    for (const word of words) found.push({ why: 'with a member that denies or doubts it', word });
    if (Array.isArray(value) && value.some((one) => isObject(one) && findNo(one, rules) !== undefined))
      found.push({ why: 'with a result that says no', word: null });
  }
  return found;
}

/** The words that say that it was done, in the name of a member that says that it was not. */
function findDenied(name: string, value: unknown, { done }: Rules): readonly string[] {
  if (done.has(folded(name)) && value !== undefined) return [name.toLowerCase()];
  if (value !== false && numberText(value) !== '0') return [];
  return wordsOf(name).filter((word) => done.has(word));
}

/** @returns null for what is nested deeper than the stack. */
function toText(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

function saysDone(value: unknown, { done }: Rules): boolean {
  if (typeof value === 'number' && value >= 200 && value <= 299) return true;
  return done.has(folded(value));
}

function folded(value: unknown): unknown {
  return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

/** Nearly all answers have the same members and message, so what was found in one need not be sought again. */
const MOST_KNOWN = 500;
const LONGEST_KNOWN = 200;

const WORD = /\p{L}+(?:['’]t)?/gu;

/** @returns the words of doubt in a text, or in a name (`alreadyExists`, `is_duplicate`). */
function findWords(text: string, { doubtful, known }: Rules): readonly string[] {
  const before = known.get(text);
  if (before !== undefined) return before;
  const found = wordsOf(text).filter((word) => doubtful.has(word) || /n['’]t$/.test(word));
  if (known.size >= MOST_KNOWN) known.clear();
  if (text.length <= LONGEST_KNOWN) known.set(text, found);
  return found;
}

/** The words of a text, or of a name, in lower case. */
function wordsOf(text: string): readonly string[] {
  const apart = text
    .slice(0, MAX_READ)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
  return [...apart.matchAll(WORD)].map(([word]) => word);
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
  if (values.includes(value)) return true;
  const number = numberText(value);
  return number !== null && values.some((one) => numberText(one) === number);
}

/** False for a value that says nothing: null, false, zero, and what is blank or empty. */
export function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (value === undefined || value === null || value === false || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
