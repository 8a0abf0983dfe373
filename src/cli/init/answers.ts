import { COLUMN_ROLES, type ColumnRole, CUSTOMER_ROLES, type StatedRoles } from '../../core/layout.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { plural } from '../../core/text/plural.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { parseZone } from '../../intake/values/parse-zone.ts';
import type { CodeOwner, ProposedOwner } from './find-owners.ts';
import {
  EVERY_SOURCE,
  type InitOptions,
  NOTHING,
  type SourceAnswer,
  type SourceAnswers,
} from './init-options.ts';
import type { UnclearColumn } from './recognise/assign-columns.ts';
import { isCurrency, waysToSay, withoutListWords } from './recognise/column-names.ts';
import type { OrdersExamined } from './recognise/examine-orders.ts';
import type { Recognised, RecognisedSource } from './recognise/recognise.ts';

type SourceKey = keyof SourceAnswer;

export type Answers = {
  /** That of sources without one of their own. */
  readonly brandId: string;
  readonly sources: ReadonlyMap<string, SourceAnswer>;
};

/** A question that an option or a person answers. */
export type Question = {
  /** Null for a question about all sources. */
  readonly source: string | null;
  readonly key: SourceKey;
  /** Null if there is no good guess. */
  readonly suggestion: string | null;
  /** The answer that an option has given, if any. */
  readonly given: string | null;
  /** What it is about, for its text. */
  readonly about?: string;
  /** Whether it may be left open: files are then held. */
  readonly isOptional?: boolean;
  /** Whether the suggestion may be used without asking if there is no terminal. */
  readonly mayAssume: boolean;
};

type Choice = { readonly value: string; readonly label: string };
type Wording = {
  /** The option that answers the question. */
  readonly flag: string;
  readonly value: string;
  readonly ask: (source: string, about: string) => string;
  readonly help: string;
  /** Says whether an answer is valid; otherwise `fault` says what to write. */
  readonly isValid: (value: string) => boolean;
  readonly fault: string;
  /** The answers to choose from. */
  readonly choices?: readonly Choice[];
};

/** The wording of a question with a few answers. */
function among(choices: readonly Choice[]): Pick<Wording, 'value' | 'isValid' | 'fault' | 'choices'> {
  const values = choices.map(({ value }) => value);
  return {
    value: values.join('|'),
    isValid: (value) => values.includes(value),
    fault: `Write ${values.join(' or ')}.`,
    choices,
  };
}

/** A shorter text is no reason. */
const MIN_REASON = 10;

export const QUESTIONS: Readonly<Record<Question['key'], Wording>> = {
  brand: {
    flag: '--brand',
    value: 'ID',
    help: 'Its id in the service: a number, such as 4819.',
    ask: (source) => `To which brand ${source === '' ? 'do the exports' : `does ${source}`} belong?`,
    isValid: (value) => /^\d{1,15}$/.test(value),
    fault: 'The id of a brand is a whole number.',
  },
  timeZone: {
    flag: '--time-zone',
    value: 'ZONE',
    help: 'A name of the IANA list, such as Europe/Amsterdam.',
    ask: (source, about) =>
      about === ''
        ? `In which time zone are the times of ${source}?`
        : `${source} has ${about}. In which time zone do its days begin?`,
    isValid: (value) => value === 'UTC' || (value.includes('/') && typeof parseZone(value) === 'string'),
    fault: 'Write a zone of the IANA list, such as Europe/Amsterdam or UTC.',
  },
  currency: {
    flag: '--currency',
    value: 'CODE',
    help: 'Three letters of ISO 4217, such as EUR.',
    ask: (source) => `In which currency are the amounts of ${source}?`,
    isValid: isCurrency,
    fault: 'Write the three letters of ISO 4217, such as EUR.',
  },
  platform: {
    flag: '--platform',
    value: 'NAME',
    help: 'For example shopify.',
    ask: (source) => `What is the name of the shop platform of ${source}? You cannot change it later.`,
    isValid: (value) => /^[\w.-]{1,100}$/.test(value),
    fault: 'Use letters, digits, dots, hyphens and underscores.',
  },
  dateOrder: {
    flag: '--date-order',
    help: 'No date in the files has a day after the 12th.',
    ask: (source) => `Is the month (MDY) or the day (DMY) first in the dates of ${source}?`,
    ...among([
      { value: 'MDY', label: 'the month: 4/5 is the 5th of April' },
      { value: 'DMY', label: 'the day: 4/5 is the 4th of May' },
    ]),
  },
  decimalMark: {
    flag: '--decimal-mark',
    ask: (source) =>
      `Which mark is before the decimals of amounts in ${source}? No amount shows it: 1.250 may be 1250.`,
    help: 'A point or a comma. The other mark then separates thousands.',
    ...among([
      { value: '.', label: 'a point: 1.250 is less than 2' },
      { value: ',', label: 'a comma: 1.250 is 1250' },
    ]),
    fault: 'Write a point or a comma.',
  },
  consent: {
    flag: '--consent',
    ask: (source, about) =>
      about === ''
        ? `${source} does not say who has consented. Did every customer in it agree to be contacted?`
        : `${source} says who has refused (${about}), but not who has consented. May all others be submitted?`,
    help: 'If so: --consent not_recorded. Otherwise leave this export out.',
    ...among([{ value: 'not_recorded', label: 'yes: all customers, or all others, may be contacted' }]),
  },
  missingColumns: {
    flag: '--missing-columns',
    value: 'REASON',
    ask: (source, about) =>
      `${source} lacks ${about}. If its exports never have ${about.includes(', "') ? 'them' : 'it'} and every order counts in full, why?`,
    help: 'For example: The shop gives vouchers, no refunds. Without an answer, the files are held.',
    isValid: (value) => value === '' || value.trim().length >= MIN_REASON,
    fault: `Write at least ${MIN_REASON} characters, or nothing.`,
  },
  status: {
    flag: '--status',
    ask: (source) => `No column of ${source} says which orders were paid. Does every order in it count?`,
    help: 'If so: --status any. Otherwise export the status too, or name its column: --column "NAME=status".',
    ...among([{ value: 'any', label: 'every order in it was paid' }]),
  },
  renewals: {
    flag: '--renewals',
    ask: (source, about) =>
      `${about} with a code, link or influencer ${about.startsWith('1 ') ? 'renews a subscription' : 'renew subscriptions'} (source ${source}). Are renewals credited, too?`,
    help: 'If so: --renewals credit. If only first orders are: --renewals exclude.',
    ...among([
      { value: 'exclude', label: 'no: only the first order of a subscription counts' },
      { value: 'credit', label: 'yes: each renewal counts, too' },
    ]),
  },
};

/** Lists every question about the sources, those with an answer included. */
export function questionsFor(
  sources: readonly RecognisedSource[],
  options: InitOptions,
  brands: readonly BrandChoice[],
): readonly Question[] {
  const names = sources.map(({ name }) => name);
  const suggestion = brands.length === 1 ? (brands[0]?.id ?? null) : null;
  const shops = sources.filter(({ examined }) => examined.kind === 'orders').map(({ name }) => name);
  // Several shops may belong to several brands. Everything else is asked once.
  const asked: readonly (string | null)[] = shops.length > 1 ? shops : [null];
  const others = names.filter((name) => !asked.includes(name) && options.brand?.has(name));
  const brand = [...asked, ...others].map((source): Question => {
    const given = givenFor(options.brand, source ?? EVERY_SOURCE);
    return { source, key: 'brand', suggestion, given, mayAssume: true };
  });
  return [...brand, ...sources.flatMap((source) => questionsOf(source, sources, options))];
}

function questionsOf(
  source: RecognisedSource,
  sources: readonly RecognisedSource[],
  options: InitOptions,
): readonly Question[] {
  const { name, examined } = source;
  const ask = (key: SourceKey, suggestion: string | null = null, mayAssume = false): Question => ({
    source: name,
    key,
    suggestion,
    mayAssume,
    given: givenFor(options[key], name),
  });
  if (examined.kind === 'customers') {
    const { no } = examined.consent;
    const about = no === 0 ? '' : plural(no, 'row');
    // If all are refused, there are no others who may be submitted.
    return examined.needsConsent && !isRefusedWhole(examined) ? [{ ...ask('consent'), about }] : [];
  }
  if (examined.kind !== 'orders') return [];
  return [
    ...(examined.needsZone
      ? [{ ...ask('timeZone'), about: examined.isDateOnly ? 'dates without times' : '' }]
      : []),
    ...(examined.currency === null
      ? []
      : [ask('currency', examined.currency.offered, examined.currency.candidates.length === 1)]),
    ...(examined.dateOrder === 'open' ? [ask('dateOrder', dateOrderOf(examined, options, name))] : []),
    ...(examined.decimalMark === 'open' ? [ask('decimalMark')] : []),
    ...(source.proposed !== null && examined.layout.lacks.includes('status') ? [ask('status')] : []),
    ...(examined.preview.renewals === 0
      ? []
      : [
          {
            // A known layout credits them by default; of a column of their own, only a person knows it.
            ...ask('renewals', source.proposed === null ? 'credit' : null, true),
            about: plural(examined.preview.renewals, 'order'),
          },
        ]),
    ...(examined.missing.size === 0
      ? []
      : [{ ...ask('missingColumns'), about: sayMissing(examined), isOptional: true }]),
    ask('platform', platformOf(source, sources), true),
  ];
}

/** True for customers of whom every one would count as having refused. */
export function isRefusedWhole(examined: RecognisedSource['examined']): boolean {
  return examined.kind === 'customers' && examined.consent.no > 0 && examined.submitted === 0;
}

function sayMissing({ missing }: OrdersExamined): string {
  return [...missing].map(([name, says]) => `${JSON.stringify(name)} (${says})`).join(', ');
}

/** The order that is more likely where such exports are written. It is only offered: it may change what is credited. */
function dateOrderOf({ layout }: OrdersExamined, options: InitOptions, name: string): 'DMY' | null {
  return layout.money.decimal === ',' || isEuropean(givenFor(options.timeZone, name)) ? 'DMY' : null;
}

function isEuropean(timeZone: string | null | undefined): boolean {
  return timeZone?.startsWith('Europe/') === true;
}

/** What options state about a source, as far as it is valid. `init` refuses the rest before anything is written. */
export function statedOf(options: InitOptions, source: string): Omit<SourceAnswer, 'platform' | 'consent'> {
  const { platform: _platform, consent: _consent, ...nothing } = NOTHING;
  const stated = (Object.keys(nothing) as (keyof typeof nothing)[]).flatMap((key) => {
    const given = givenFor(options[key], source);
    return given === null || !QUESTIONS[key].isValid(given) ? [] : [[key, written(key, given)]];
  });
  return { ...nothing, ...Object.fromEntries(stated) };
}

function givenFor(answers: SourceAnswers | undefined, source: string): string | null {
  return answers?.get(source) ?? answers?.get(EVERY_SOURCE) ?? null;
}

function written(key: Question['key'], value: string): string {
  return key === 'currency' ? value.toUpperCase() : value;
}

/**
 * Suggests the platform: `shopify` for shopify-orders, `acme` for a file acme-orders.csv. A second shop of the same
 * platform gets its own name, because the order ids of the two may be the same.
 */
function platformOf(
  { name, examined, proposed }: RecognisedSource,
  sources: readonly RecognisedSource[],
): string {
  if (proposed !== null || examined.layout.name.startsWith('generic')) {
    const named = withoutListWords(name);
    const isShared = sources.some((other) => other.name !== name && withoutListWords(other.name) === named);
    return named === '' || isShared ? name : named;
  }
  const [platform = name] = examined.layout.name.split('-');
  const first = sources.find(({ examined: other }) => other.layout.name === examined.layout.name);
  return first === undefined || first.name === name
    ? platform
    : `${platform}-${name.replace(`-${examined.layout.name}`, '')}`;
}

function toAnswers(values: ReadonlyMap<Question, string>): Answers {
  const sources = new Map<string, SourceAnswer>();
  let brandId = '';
  for (const [{ source, key }, value] of values) {
    if (value === '') continue;
    if (key === 'brand') brandId ||= value;
    if (source !== null)
      sources.set(source, { ...(sources.get(source) ?? NOTHING), [key]: written(key, value) });
  }
  return { brandId, sources };
}

/** A brand of the account, to choose from. */
export type BrandChoice = { readonly id: string; readonly name: string | null };

/** The streams for questions: standard input and standard error, so that standard output contains only results. */
export type Asking = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };

/** The answers of options and safe suggestions, once none is missing or invalid. */
export function takeAnswers(questions: readonly Question[]): Answers {
  return toAnswers(
    new Map(
      questions.flatMap((question) => {
        const value = answerOf(question);
        return value === null ? [] : [[question, value] as const];
      }),
    ),
  );
}

/** The answer of an option, or a safe suggestion. Null if a person must be asked. */
export function answerOf({ given, mayAssume, suggestion }: Question): string | null {
  return given ?? (mayAssume ? suggestion : null);
}

/** Asks a person the questions that no option answers. Null if the person cancelled. */
export async function askAnswers(
  questions: readonly Question[],
  { brands, terminal }: { brands: readonly BrandChoice[]; terminal: Asking },
): Promise<Answers | null> {
  const { isCancel, select, text } = await import('@clack/prompts');
  const values = new Map<Question, string>();
  for (const question of questions) {
    const { key, source, given } = question;
    const { ask, help, isValid, fault, choices = [] } = QUESTIONS[key];
    const message = toPrintableLine(ask(source ?? '', question.about ?? ''));
    const options = key === 'brand' ? brands.map(toChoice) : [...choices];
    const value =
      given ??
      (options.length === 0
        ? await text({
            message,
            ...terminal,
            placeholder: help,
            ...offeredOf(question, values),
            validate: (input) => (isValid(input ?? '') ? undefined : fault),
          })
        : await select({ message, ...terminal, options, ...offeredOf(question, values) }));
    if (isCancel(value)) return null;
    values.set(question, String(value ?? ''));
  }
  return toAnswers(values);
}

/** The answer that is offered first, by what was answered before: shops often share a brand and a zone. */
function offeredOf(
  { key, source, suggestion }: Question,
  before: ReadonlyMap<Question, string>,
): { readonly initialValue?: string } {
  const [, zone] = [...before].find(([one]) => one.key === 'timeZone' && one.source === source) ?? [];
  const [, last] = [...before].findLast(([one]) => one.key === key) ?? [];
  const isShared = key === 'brand' || key === 'timeZone';
  const offered =
    (isShared ? last : undefined) ?? (key === 'dateOrder' && isEuropean(zone) ? 'DMY' : suggestion);
  return offered === null ? {} : { initialValue: offered };
}

function toChoice({ id, name }: BrandChoice): Choice {
  return { value: id, label: toPrintableLine(name === null ? id : `${name} (${id})`) };
}

/** Asks who owns each code for which somebody is proposed. Null if the person cancelled. */
export async function askOwners(
  proposals: readonly ProposedOwner[],
  terminal: Asking,
): Promise<readonly CodeOwner[] | null> {
  const { isCancel, select } = await import('@clack/prompts');
  const owners: CodeOwner[] = [];
  for (const [code, proposed] of Map.groupBy(proposals, (one) => one.code)) {
    const options = proposed.map(({ handle, dealId, evidence }) => ({
      value: dealId,
      label: toPrintableLine(`${handle ?? dealId}: ${evidence}`),
    }));
    const chosen = await select<string>({
      message: toPrintableLine(`Who owns the code ${maskAddresses(code)}?`),
      ...terminal,
      options: [{ value: '', label: 'none of these' }, ...options],
    });
    if (isCancel(chosen)) return null;
    owners.push(...proposed.filter(({ dealId }) => dealId === chosen));
  }
  return owners;
}

/** Asks whether to write the files. */
export async function askToWrite(count: number, terminal: Asking): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  const message = `Write ${count === 1 ? 'this file' : `these ${count} files`}?`;
  return (await confirm({ message, ...terminal })) === true;
}

/** What a person has said about files whose columns or letters do not show what they are. */
export type SaidOfFiles = {
  readonly stated: StatedRoles;
  readonly encoding: string | null;
  /** Words of states, folded, and whether they mean that an order was paid; `COLUMN=WORD` for one column. */
  readonly states: ReadonlyMap<string, boolean>;
};

export type Refused = Recognised['refused'][number];
/** What a person may say more about, in one file or source. */
type Unclear = Pick<Refused, 'name' | 'unclear' | 'possible'> & {
  readonly states?: ReadonlyMap<string, readonly string[]>;
};

/** True if a file could be read after an answer. */
export function isUnclear({ unclear = [], possible }: Refused): boolean {
  return unclear.length > 0 || possible !== undefined;
}

/** The columns and states that are no yes unless a person says otherwise, to be asked about in a terminal. */
export function assumedOf({ sources }: Recognised, said: SaidOfFiles): readonly Unclear[] {
  return sources.flatMap(({ name, proposed }) => {
    const isOpen = (word: string, column: string): boolean =>
      !waysToSay(word, column).some((way) => said.states.has(way));
    const states = new Map(
      [...(proposed?.unknownStates ?? [])].flatMap(([column, words]) => {
        const open = words.filter((word) => isOpen(word, column));
        return open.length === 0 ? [] : [[column, open] as const];
      }),
    );
    const assumed = proposed?.assumed ?? [];
    return assumed.length + states.size === 0 ? [] : [{ name, unclear: assumed, states }];
  });
}

/** The roles that a column may have, the likely one first. If none is, the ones that only hold or exclude orders. */
export function rolesOf({ likely, offered, isOfCustomers = false }: UnclearColumn): readonly ColumnRole[] {
  const roles = isOfCustomers ? CUSTOMER_ROLES : COLUMN_ROLES.filter((role) => role !== 'consent');
  const first = offered ?? (likely === null ? (['excludes', 'status', 'other_status'] as const) : [likely]);
  return [...first, ...roles.filter((role) => !first.includes(role))];
}

export function samplesOf({ samples }: UnclearColumn): string {
  return samples.length === 0 ? '' : ` (${samples.map(toPrintableLine).join(', ')})`;
}

/** Asks about each column and encoding. Null if the person cancelled. */
export async function askAboutFiles(
  files: readonly Unclear[],
  { said, terminal }: { said: SaidOfFiles; terminal: Asking },
): Promise<SaidOfFiles | null> {
  const { isCancel, multiselect, select } = await import('@clack/prompts');
  const stated = new Map(said.stated);
  const paid = new Map(said.states);
  let { encoding } = said;
  for (const { name, unclear = [], possible = [], states = new Map<string, readonly string[]>() } of files) {
    for (const column of unclear) {
      // An answer applies to every file.
      if (stated.get(foldHeader(column.header)) !== said.stated.get(foldHeader(column.header))) continue;
      const question = `What is the column "${column.header}" of ${name}? ${column.why}${samplesOf(column)}`;
      const options = rolesOf(column).map((value) => ({ value, label: LABELS[value] ?? value }));
      const role = await select<ColumnRole>({ message: toPrintableLine(question), ...terminal, options });
      if (isCancel(role)) return null;
      stated.set(foldHeader(column.header), role);
    }
    for (const [column, words] of states) {
      const question = `Which words of "${column}" in ${name} mean that an order was paid? The orders of the others are held.`;
      const options = words.map((value) => ({ value, label: toPrintableLine(maskAddresses(value)) }));
      const chosen = await multiselect<string>({
        message: toPrintableLine(question),
        options,
        required: false,
        ...terminal,
      });
      if (isCancel(chosen)) return null;
      for (const word of words) paid.set(waysToSay(word, column)[1], chosen.includes(word));
    }
    if (possible.length === 0 || encoding !== null) continue;
    const message = toPrintableLine(`In which encoding do these words or letters of ${name} look right?`);
    const options = possible.map(({ encoding: value, samples }) => ({
      value,
      label: toPrintableLine(`${value}: ${samples.join(', ')}`),
    }));
    const answer = await select<string>({ message, ...terminal, options });
    if (isCancel(answer)) return null;
    encoding = answer;
  }
  const isMore = stated.size > said.stated.size || paid.size > said.states.size || encoding !== said.encoding;
  return isMore ? { stated, encoding, states: paid } : null;
}

export const LABELS: Readonly<Partial<Record<ColumnRole, string>>> = {
  other_status: 'other_status: an order counts only if the cell has a word that means yes, too',
  quantity: 'quantity: the total is the price of one piece, and counts as often as the cell says',
  renewals: 'renewals: its words mark renewals of subscriptions. You are asked whether they count',
  consent: 'consent: customers are submitted if the cell has a word that means yes',
  excludes: 'excludes: nothing is posted or submitted if the cell says anything but no',
  unused: 'unused: it does not matter',
};
