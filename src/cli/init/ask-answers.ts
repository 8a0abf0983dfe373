import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { type Answers, FLAGS, faultOf, type Question, toAnswers } from './answers.ts';

/** A brand of the account, to choose from. */
export type BrandChoice = { readonly id: string; readonly name: string | null };

type Terminal = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };

/**
 * Takes the answers from flags and safe suggestions, without asking.
 *
 * @throws KnownError `answers_missing` (exit 2), with the flag of each missing answer.
 */
export function takeAnswers(
  questions: readonly Question[],
  { isConfirmed, brands }: { readonly isConfirmed: boolean; readonly brands: readonly BrandChoice[] },
): Answers {
  const values = new Map<Question, string>();
  const missing: Question[] = [];
  for (const question of questions) {
    const value = question.given ?? (question.mayAssume ? question.suggestion : null);
    if (value === null) missing.push(question);
    else values.set(question, value);
  }
  if (missing.length === 0 && isConfirmed) return toAnswers(values);
  throw new KnownError({
    code: 'answers_missing',
    message: 'Some answers are missing from the files, and there is no terminal in which to ask you.',
    help: 'Give the options and run the command again, or run it in a terminal.',
    safe: 'Nothing was written.',
    problems: [
      ...missing.map((question) => ({
        where: flagOf(question, questions),
        message: QUESTIONS[question.key](question.source ?? ''),
        help: helpFor(question, brands),
      })),
      ...(isConfirmed ? [] : [{ where: '--yes', message: 'Write the files?', help: 'Add --yes.' }]),
    ],
    exitCode: EXIT.configuration,
  });
}

/** The flag that answers a question. It includes the source's name if several sources share the question. */
function flagOf({ key, source }: Question, questions: readonly Question[]): string {
  const [flag = '', value = ''] = FLAGS[key].split(' ');
  const isShared = questions.filter((other) => other.key === key).length > 1;
  return source !== null && isShared ? `${flag} ${source}=${value}` : `${flag} ${value}`;
}

function helpFor({ key, suggestion }: Question, brands: readonly BrandChoice[]): string {
  if (key === 'brand' && brands.length > 0)
    return `Brands of the account: ${brands.map(({ id, name }) => `${id}${name === null ? '' : ` (${name})`}`).join(', ')}.`;
  return suggestion === null ? HELP[key] : `${HELP[key]} The files suggest ${suggestion}.`;
}

const QUESTIONS: Readonly<Record<Question['key'], (source: string) => string>> = {
  brand: () => 'Which brand are orders credited for?',
  timeZone: (source) => `In which time zone does ${source} write its times?`,
  currency: (source) => `In which currency are the amounts of ${source}?`,
  platform: (source) => `What is the name of the shop platform of ${source}? You cannot change it later.`,
  dateOrder: (source) => `Is the month (MDY) or the day (DMY) first in the dates of ${source}?`,
  decimalMark: (source) =>
    `Which mark is before the decimals of amounts in ${source}? No amount shows it: 1.250 may be 1250.`,
  status: (source) => `No column of ${source} says which orders were paid. Does every order in it count?`,
  consent: (source) => `${source} does not say who has consented. Has nobody in it refused?`,
};

const HELP: Readonly<Record<Question['key'], string>> = {
  brand: 'Write its id at the service.',
  timeZone: 'A name of the IANA list, such as Europe/Amsterdam.',
  currency: 'Three letters of ISO 4217, such as EUR.',
  platform: 'For example shopify.',
  dateOrder: 'No date in the files has a day after the 12th.',
  decimalMark: 'A point or a comma. The other mark then separates thousands.',
  status: 'If so: --status any. Otherwise export the status too, or name its column: --column "NAME=status".',
  consent: 'If so: --consent not_recorded. Otherwise leave this export out.',
};

/** Asks a person the questions that no flag answers. Null if the person cancelled. */
export async function askAnswers(
  questions: readonly Question[],
  { brands, terminal }: { readonly brands: readonly BrandChoice[]; readonly terminal: Terminal },
): Promise<Answers | null> {
  const { isCancel, select, text } = await import('@clack/prompts');
  const values = new Map<Question, string>();
  for (const question of questions) {
    const { key, source, suggestion, given } = question;
    if (given !== null) {
      values.set(question, given);
      continue;
    }
    const message = toPrintableLine(QUESTIONS[key](source ?? ''));
    const choices = choicesFor(key, brands);
    const value =
      choices === null
        ? await text({
            message,
            ...terminal,
            ...(suggestion === null ? {} : { initialValue: suggestion }),
            placeholder: HELP[key],
            validate: (input) => faultOf(key, input ?? '') ?? undefined,
          })
        : await select({ message, ...terminal, options: choices });
    if (isCancel(value)) return null;
    values.set(question, String(value));
  }
  return toAnswers(values);
}

function choicesFor(key: Question['key'], brands: readonly BrandChoice[]) {
  if (key === 'dateOrder')
    return [
      { value: 'MDY', label: 'the month: 4/5 is the 5th of April' },
      { value: 'DMY', label: 'the day: 4/5 is the 4th of May' },
    ];
  if (key === 'decimalMark')
    return [
      { value: '.', label: 'a point: 1.250 is less than 2' },
      { value: ',', label: 'a comma: 1.250 is 1250' },
    ];
  if (key === 'status') return [{ value: 'any', label: 'every order in it was paid' }];
  if (key === 'consent') return [{ value: 'not_recorded', label: 'nobody in it has refused' }];
  if (key === 'brand' && brands.length > 0)
    return brands.map(({ id, name }) => ({
      value: id,
      label: toPrintableLine(name === null ? id : `${name} (${id})`),
    }));
  return null;
}

/** Asks whether to write the files. */
export async function askToWrite(count: number, terminal: Terminal): Promise<boolean> {
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    message: `Write ${count === 1 ? 'this file' : `these ${count} files`}?`,
    ...terminal,
  });
  return answer === true;
}
