import { parseZone } from '../../intake/values/parse-zone.ts';
import { usageError } from '../usage-error.ts';
import { EVERY_SOURCE, type InitOptions, type SourceAnswers } from './init.ts';
import type { RecognisedSource } from './recognise/recognise.ts';

/** The settings that the files of a source cannot tell; null if a setting is not needed. */
export type SourceAnswer = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly orderPlatform: string | null;
  readonly dateOrder: 'MDY' | 'DMY' | null;
  readonly decimalMark: '.' | ',' | null;
  readonly consent: 'not_recorded' | null;
  /** `any`: the export does not say which orders were paid, and every order counts. */
  readonly status: 'any' | null;
};

export type Answers = {
  readonly brandId: string;
  readonly sources: ReadonlyMap<string, SourceAnswer>;
};

/** A question that a flag or a person answers. */
export type Question = {
  /** Null for a question about all sources. */
  readonly source: string | null;
  readonly key:
    | 'brand'
    | 'timeZone'
    | 'currency'
    | 'platform'
    | 'dateOrder'
    | 'decimalMark'
    | 'consent'
    | 'status';
  /** Null if there is no good guess. */
  readonly suggestion: string | null;
  /** The answer that a flag has given, if any. */
  readonly given: string | null;
  /** Whether the suggestion may be used without asking if there is no terminal. */
  readonly mayAssume: boolean;
};

export const FLAGS: Readonly<Record<Question['key'], string>> = {
  brand: '--brand ID',
  timeZone: '--time-zone ZONE',
  currency: '--currency CODE',
  platform: '--platform NAME',
  dateOrder: '--date-order MDY|DMY',
  decimalMark: '--decimal-mark .|,',
  consent: '--consent not_recorded',
  status: '--status any',
};

/**
 * Lists every question about the sources, those with an answer included.
 *
 * @throws KnownError `usage` (exit 2) if an answer names a source that was not found.
 */
export function questionsFor(
  sources: readonly RecognisedSource[],
  options: InitOptions,
  brands: readonly string[],
): readonly Question[] {
  refuseUnknownSources(sources, options);
  const ofAll: Question[] = [
    {
      source: null,
      key: 'brand',
      suggestion: brands.length === 1 ? (brands[0] ?? null) : null,
      given: options.brand ?? null,
      mayAssume: true,
    },
  ];
  return [...ofAll, ...sources.flatMap((source) => questionsOf(source, sources, options))];
}

function refuseUnknownSources(sources: readonly RecognisedSource[], options: InitOptions): void {
  const names = sources.map(({ name }) => name);
  for (const key of [
    'timeZone',
    'currency',
    'platform',
    'dateOrder',
    'decimalMark',
    'consent',
    'status',
  ] as const) {
    const unknown = [...(options[key]?.keys() ?? [])].find(
      (name) => name !== EVERY_SOURCE && !names.includes(name),
    );
    if (unknown !== undefined)
      throw usageError(
        `${FLAGS[key].split(' ')[0]} names the source ${JSON.stringify(unknown)}, which was not found.`,
        `Sources found: ${names.join(', ')}.`,
      );
  }
}

function questionsOf(
  source: RecognisedSource,
  sources: readonly RecognisedSource[],
  options: InitOptions,
): readonly Question[] {
  const { name, examined } = source;
  const ask = (
    key: Exclude<Question['key'], 'brand'>,
    suggestion: string | null = null,
    mayAssume = false,
  ): Question => ({ source: name, key, suggestion, mayAssume, given: givenFor(options[key], name) });
  if (examined.kind === 'customers') return examined.needsConsent ? [ask('consent')] : [];
  if (examined.kind !== 'orders') return [];
  const [currency = null] = examined.currency?.candidates ?? [];
  const isSure = examined.currency?.candidates.length === 1;
  return [
    ...(examined.needsZone ? [ask('timeZone')] : []),
    ...(examined.currency === null ? [] : [ask('currency', currency, isSure)]),
    ...(examined.dateOrder === 'open' ? [ask('dateOrder')] : []),
    ...(examined.decimalMark === 'open' ? [ask('decimalMark')] : []),
    ...(source.proposed !== null && examined.layout.lacks.includes('status') ? [ask('status')] : []),
    ask('platform', platformOf(source, sources), true),
  ];
}

/**
 * What options state about a source, as far as it is valid. `toAnswers` refuses the rest before anything is written.
 */
export function statedOf(
  options: InitOptions,
  source: string,
): Pick<SourceAnswer, 'dateOrder' | 'decimalMark' | 'currency' | 'timeZone' | 'status'> {
  const valid = (
    key: 'dateOrder' | 'decimalMark' | 'currency' | 'timeZone' | 'status',
  ): Partial<SourceAnswer> => {
    const given = givenFor(options[key], source);
    return given === null || faultOf(key, given) !== null ? {} : toPart(key, given);
  };
  return {
    ...NOTHING,
    ...valid('dateOrder'),
    ...valid('decimalMark'),
    ...valid('currency'),
    ...valid('timeZone'),
    ...valid('status'),
  };
}

function givenFor(answers: SourceAnswers | undefined, source: string): string | null {
  return answers?.get(source) ?? answers?.get(EVERY_SOURCE) ?? null;
}

/**
 * Suggests the platform: `shopify` for shopify-orders. A second shop of the same platform gets its own name,
 * because the order ids of the two may be the same.
 */
function platformOf(
  { name, examined, proposed }: RecognisedSource,
  sources: readonly RecognisedSource[],
): string {
  if (proposed !== null || examined.layout.name.startsWith('generic')) return name;
  const [platform = name] = examined.layout.name.split('-');
  const twins = sources.filter(({ examined: other }) => other.layout.name === examined.layout.name);
  return twins.length > 1 && twins[0]?.name !== name
    ? `${platform}-${name.replace(`-${examined.layout.name}`, '')}`
    : platform;
}

/**
 * Converts values to answers.
 * @throws KnownError `usage` (exit 2) if a value is invalid.
 */
export function toAnswers(values: ReadonlyMap<Question, string>): Answers {
  const sources = new Map<string, SourceAnswer>();
  let brandId = '';
  for (const [{ source, key }, value] of values) {
    checkAnswer(key, value);
    if (source === null) {
      brandId = value;
      continue;
    }
    const before = sources.get(source) ?? NOTHING;
    sources.set(source, { ...before, ...toPart(key, value) });
  }
  return { brandId, sources };
}

export const NOTHING: SourceAnswer = {
  timeZone: null,
  currency: null,
  orderPlatform: null,
  dateOrder: null,
  decimalMark: null,
  consent: null,
  status: null,
};

function toPart(key: Question['key'], value: string): Partial<SourceAnswer> {
  switch (key) {
    case 'timeZone':
      return { timeZone: value };
    case 'currency':
      return { currency: value.toUpperCase() };
    case 'platform':
      return { orderPlatform: value };
    case 'dateOrder':
      return { dateOrder: value === 'MDY' ? 'MDY' : 'DMY' };
    case 'decimalMark':
      return { decimalMark: value === ',' ? ',' : '.' };
    case 'consent':
      return { consent: 'not_recorded' };
    case 'status':
      return { status: 'any' };
    case 'brand':
      return {};
  }
}

/** @returns why a value is invalid as an answer; null if it is valid. */
export function faultOf(key: Question['key'], value: string): string | null {
  switch (key) {
    case 'brand':
      return /^\d{1,15}$/.test(value) ? null : 'The id of a brand is a whole number.';
    case 'timeZone':
      return value === 'UTC' || (value.includes('/') && typeof parseZone(value) === 'string')
        ? null
        : 'Write a zone of the IANA list, such as Europe/Amsterdam or UTC.';
    case 'currency':
      return Intl.supportedValuesOf('currency').includes(value.toUpperCase())
        ? null
        : 'Write the three letters of ISO 4217, such as EUR.';
    case 'platform':
      return /^[\w.-]{1,100}$/.test(value) ? null : 'Use letters, digits, dots, hyphens and underscores.';
    case 'dateOrder':
      return value === 'MDY' || value === 'DMY' ? null : 'Write MDY or DMY.';
    case 'decimalMark':
      return value === '.' || value === ',' ? null : 'Write a point or a comma.';
    case 'consent':
      return value === 'not_recorded' ? null : 'Write not_recorded.';
    case 'status':
      return value === 'any' ? null : 'Write any.';
  }
}

function checkAnswer(key: Question['key'], value: string): void {
  const fault = faultOf(key, value);
  if (fault !== null)
    throw usageError(
      `${FLAGS[key].split(' ')[0]}: ${fault}`,
      'Correct the option and run the command again.',
    );
}
