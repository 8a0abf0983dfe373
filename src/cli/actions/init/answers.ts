import { parseZone } from '../../../map/values/parse-zone.ts';
import type { RecognisedSource } from '../../../pipeline/recognise/recognise.ts';
import { EVERY_SOURCE, type InitOptions, type SourceAnswers } from '../../commands/setup/init.ts';
import { usageError } from '../../usage-error.ts';

/** What no file of a source can tell; null where nothing has to be said. */
export type SourceAnswer = {
  readonly timeZone: string | null;
  readonly currency: string | null;
  readonly orderPlatform: string | null;
  readonly dateOrder: 'MDY' | 'DMY' | null;
  readonly consent: 'not_recorded' | null;
};

export type Answers = {
  readonly brandId: string;
  readonly sources: ReadonlyMap<string, SourceAnswer>;
};

/** A question, as a flag answers it and as a person is asked. */
export type Question = {
  /** Null: about all of them. */
  readonly source: string | null;
  readonly key: 'brand' | 'timeZone' | 'currency' | 'platform' | 'dateOrder' | 'consent';
  /** Null: there is no good guess. */
  readonly suggestion: string | null;
  /** What a flag or earlier answer already says. */
  readonly given: string | null;
  /** A suggestion that need not be asked about when nobody can be asked. */
  readonly mayAssume: boolean;
};

export const FLAGS: Readonly<Record<Question['key'], string>> = {
  brand: '--brand ID',
  timeZone: '--time-zone ZONE',
  currency: '--currency CODE',
  platform: '--platform NAME',
  dateOrder: '--date-order MDY|DMY',
  consent: '--consent not_recorded',
};

/** Every question that a set of sources leaves open, those that are answered included. */
export function questionsFor(
  sources: readonly RecognisedSource[],
  options: InitOptions,
  brands: readonly string[],
): readonly Question[] {
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
    ask('platform', platformOf(source, sources), true),
  ];
}

function givenFor(answers: SourceAnswers | undefined, source: string): string | null {
  return answers?.get(source) ?? answers?.get(EVERY_SOURCE) ?? null;
}

/** `shopify` for shopify-orders; two shops of one platform are two, because their order ids may be the same. */
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

/** Makes answers of values. @throws KnownError `usage` (exit 2) for a zone, currency or brand that is none. */
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
  consent: null,
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
    case 'consent':
      return { consent: 'not_recorded' };
    case 'brand':
      return {};
  }
}

/** Why a value cannot be an answer; null where it can. */
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
    case 'consent':
      return value === 'not_recorded' ? null : 'Write not_recorded.';
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
