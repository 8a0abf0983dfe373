import { type KnownError, type Problem, refusal } from '../../core/known-error.ts';
import { foldCode, foldHeader } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { inShellQuotes, shellWord, toPrintableLine } from '../../core/text/printable.ts';
import { foldWord } from '../../intake/values/clean-text.ts';
import { usageError } from '../usage-error.ts';
import {
  answerOf,
  assumedOf,
  type BrandChoice,
  isRefusedWhole,
  LABELS,
  QUESTIONS,
  type Question,
  type Refused,
  rolesOf,
  type SaidOfFiles,
  samplesOf,
} from './answers.ts';
import { EVERY_SOURCE, type InitOptions, NOTHING } from './init-options.ts';
import type { UnclearColumn } from './recognise/assign-columns.ts';
import { waysToSay } from './recognise/column-names.ts';
import type { CodeFound } from './recognise/preview-orders.ts';
import type { ProposedLayout } from './recognise/proposed-layout.ts';
import type { Recognised, RecognisedSource } from './recognise/recognise.ts';

/*
 * What a command line of `init` leaves open or says wrongly. Without a terminal, one error names all of it, each with the
 * option to type, and one command line that answers everything.
 */

/** What was found in the files, and what is said about it. */
export type Said = {
  readonly places: readonly string[];
  readonly options: InitOptions;
  readonly said: SaidOfFiles;
  /** As far as the files can be read: columns that are unclear have the roles that are offered. */
  readonly found: Recognised;
  /** The files whose columns or encoding are unclear. */
  readonly unclear: readonly Refused[];
  readonly codes: readonly CodeFound[];
  /** The brands of the account; none if they are not known. */
  readonly brands: readonly BrandChoice[];
};

/** An option as it was given, and what is wrong with it. */
type Given = { readonly words: string; readonly fault: Problem | null };

/**
 * Refuses options that have no effect or an invalid value, and customers of whom nothing is known to have consented: all
 * of them at once.
 *
 * @throws KnownError `usage` (exit 2).
 */
export function refuseFaults(said: Said): void {
  const problems = [...faultsOf(said), ...withoutYes(said.found)];
  const [only, ...others] = problems;
  if (only === undefined) return;
  if (others.length === 0) throw usageError(only.message, only.help);
  throw refusal({
    code: 'usage',
    message: `${problems.length} options are missing or cannot be used.`,
    help: 'Correct them and run the command again.',
    problems,
  });
}

/** Whether a question has no answer, or one that is not valid. */
function isOpen(question: Question): boolean {
  const answer = answerOf(question);
  return answer === null || !QUESTIONS[question.key].isValid(answer);
}

function faultsOf(said: Said): readonly Problem[] {
  return givenOptions(said).flatMap(({ fault }) => fault ?? []);
}

/**
 * The error without a terminal: every open question, with its option, and a command line that answers all of them. Null if
 * none is open.
 */
export function openAnswers(
  said: Said,
  { questions, brands }: { questions: readonly Question[]; brands: readonly BrandChoice[] },
): KnownError | null {
  const { options, unclear, found } = said;
  const isConfirmed = options.yes === true || options.dryRun === true;
  const required = questions.filter((one) => one.isOptional !== true);
  const missing = required.filter((one) => answerOf(one) === null);
  const columns = [
    ...new Map(unclear.flatMap(columnsOf).map((one) => [foldHeader(one.header), one])).values(),
  ];
  const asked = [
    ...unclear
      .filter(({ possible }) => possible !== undefined)
      .slice(0, 1)
      .map(({ name, why }) => ({
        where: '--encoding NAME',
        message: `${name}: ${why}`,
        help: 'Name the encoding in which these words or letters look right.',
      })),
    ...columns.map(aboutColumn),
    ...withoutYes(found),
    ...[...Map.groupBy(missing, ({ key }) => key).values()].flatMap((of) => aboutSources(of, brands)),
  ];
  const faults = faultsOf(said);
  if (asked.length + faults.length === 0 && isConfirmed) return null;
  const optional = [
    ...questions.filter((one) => one.isOptional === true && answerOf(one) === null).map(aboutOptional),
    ...aboutStates(assumedOf(found, said.said)).map(({ option: _option, ...about }) => about),
  ];
  const isSupposed = columns.length > 0 && found.sources.length > 0;
  return refusal({
    code: asked.length + (isConfirmed ? 0 : 1) === 0 ? 'usage' : 'answers_missing',
    message:
      columns.length > 0
        ? 'Some files do not show all that decides about credits and customers, and there is no terminal in which to ask you.'
        : asked.length === 0 && isConfirmed
          ? `${faults.length === 1 ? 'An option' : `${faults.length} options`} cannot be used.`
          : 'Some answers are missing from the files, and there is no terminal in which to ask you.',
    help: [
      `Run the command in a terminal, or give the options.${isSupposed ? ' What is asked besides columns may change with their roles.' : ''} This answers everything, with what the files suggest. Check each answer, and replace the words in capitals, or leave out what may be left out:`,
      `  npx influencer-sync init ${[...said.places.map(shellWord), ...commandOf(said, { columns, open: questions.filter(isOpen) })].join(' ')}`,
    ].join('\n'),
    safe: 'Nothing was written.',
    problems: [
      ...faults,
      ...asked.map(({ where, message, help }) => ({ where, message, help })),
      ...optional,
      ...(isConfirmed ? [] : [{ where: '--yes', message: 'Write the files?', help: 'Add --yes.' }]),
    ],
  });
}

/**
 * What a person would say who takes every role and encoding that is offered, to find what else is asked. Null if nothing
 * more is offered.
 */
export function supposeAnswers(unclear: readonly Refused[], said: SaidOfFiles): SaidOfFiles | null {
  const stated = new Map(said.stated);
  for (const column of unclear.flatMap(columnsOf)) {
    // A role that only a person knows is not supposed: it would leave out orders, and what must be asked about them.
    stated.set(foldHeader(column.header), column.oneOf ?? column.likely ?? 'unused');
  }
  const [encoding = null] = unclear.flatMap(({ possible = [] }) => possible.map((one) => one.encoding));
  const isMore = stated.size > said.stated.size || (said.encoding === null && encoding !== null);
  return isMore ? { ...said, stated, encoding: said.encoding ?? encoding } : null;
}

/** An unclear column of a file. Of several that may be the same field, only the first is one. */
type OpenColumn = UnclearColumn & { readonly name: string; readonly others: readonly string[] };

function columnsOf({ name, unclear = [] }: Refused): readonly OpenColumn[] {
  return unclear
    .filter(({ oneOf }, at) => oneOf === undefined || unclear.findIndex((one) => one.oneOf === oneOf) === at)
    .map((column) => {
      const rivals = unclear.filter(({ oneOf }) => oneOf !== undefined && oneOf === column.oneOf);
      return { ...column, name, others: rivals.slice(1).map(({ header }) => header) };
    });
}

function aboutColumn(column: OpenColumn): Problem {
  const { name, header, why, likely, oneOf, others } = column;
  if (oneOf !== undefined)
    return {
      where: `--column COLUMN=${oneOf}`,
      message: `${name}: which column has the role ${oneOf}? Its name does not say so. By the values, it may be ${[header, ...others].map((one) => JSON.stringify(toPrintableLine(one))).join(' or ')}.`,
      help: `For example:  --column ${inShellQuotes(`${header}=${oneOf}`)}. If none of them has it, move the file elsewhere.`,
    };
  return {
    where: `--column ${inShellQuotes(`${header}=ROLE`)}`,
    message: `${name}: what is this column? ${why}${samplesOf(column)}`,
    help: `${likely === null ? '' : `For example =${likely}. `}Roles: ${rolesOf(column).join(', ')}. ${LABELS.excludes}. ${LABELS.unused}.`,
  };
}

/**
 * Customers with a column that asks for consent, and in which nothing is known to mean yes; and those of whom all would be
 * refused, because no word is.
 */
function withoutYes({ sources }: Recognised): readonly Problem[] {
  return sources.flatMap(({ name, proposed, examined }): Problem[] => {
    const [asked] = proposed?.withoutYes ?? [];
    const [header = asked, words = []] =
      [...(proposed?.unknownYes ?? [])].find(([one]) => asked === undefined || one === asked) ?? [];
    if (header === undefined || (asked === undefined && !isRefusedWhole(examined))) return [];
    const listed = words.map((word) => JSON.stringify(toPrintableLine(maskAddresses(word)))).join(', ');
    const all = isRefusedWhole(examined) ? ', so every row is read as a refusal' : '';
    return [
      {
        where: '--consent-yes WORD',
        message: `The column ${JSON.stringify(toPrintableLine(header))} of ${name} may say who has consented, and nothing in it is known to mean yes${all}.${listed === '' ? '' : ` Its words: ${listed}.`}`,
        help: `If it says something else: --column ${inShellQuotes(`${header}=unused`)}. If one of its words means yes: --consent-yes WORD. Otherwise leave this export out.`,
      },
    ];
  });
}

/** One question about several sources, or one for each if the files suggest different answers. */
function aboutSources(of: readonly Question[], brands: readonly BrandChoice[]): readonly Problem[] {
  const [first, ...others] = of;
  if (first === undefined) return [];
  const isSame = of.every((one) => one.suggestion === first.suggestion && one.about === first.about);
  if (!isSame) return of.map((one) => aboutSource(one, brands));
  const { where: ofOne, message, help } = aboutSource(first, brands);
  const { flag, value } = QUESTIONS[first.key];
  const where = `${flag} ${value}`;
  if (others.length === 0) return [{ where, message, help }];
  return [
    {
      where,
      message: `${message} And ${others.map(({ source }) => source).join(', ')}?`,
      help: `${help} If the answers differ, give one for each:  ${ofOne}`,
    },
  ];
}

function aboutSource(
  { key, source, about = '', suggestion }: Question,
  brands: readonly BrandChoice[],
): Problem {
  const { flag, value, ask, help } = QUESTIONS[key];
  const suggested = suggestion === null ? help : `${help} The files suggest ${suggestion}.`;
  return {
    where: `${flag} ${source ?? ''}=${value}`,
    message: ask(source ?? '', about),
    help: key === 'brand' && brands.length > 0 ? sayBrands(brands) : suggested,
  };
}

function sayBrands(brands: readonly BrandChoice[]): string {
  const listed = brands.map(({ id, name }) => `${id}${name === null ? '' : ` (${toPrintableLine(name)})`}`);
  return `Brands of the account: ${listed.join(', ')}.`;
}

function aboutOptional(question: Question): Problem {
  const about = aboutSource(question, []);
  return { ...about, where: `${about.where} (may be left out)` };
}

/** One question for each column of states, whatever number of sources have it. */
function aboutStates(
  sources: ReturnType<typeof assumedOf>,
): readonly (Problem & { readonly option: string })[] {
  const open = sources.flatMap(({ name, states = new Map<string, readonly string[]>() }) =>
    [...states].map(([column, words]) => ({ name, column, words })),
  );
  return [...Map.groupBy(open, ({ column }) => foldHeader(column)).values()].flatMap((of) => {
    const column = toPrintableLine(of[0]?.column ?? '');
    const words = new Map(of.flatMap((one) => one.words).map((word) => [foldWord(word), word]));
    const listed = [...words.values()].map((word) => JSON.stringify(toPrintableLine(maskAddresses(word))));
    const option = `--paid ${inShellQuotes(`${column}=WORD`)}`;
    return {
      option,
      where: `${option} (may be left out)`,
      message: `Which words of the column ${JSON.stringify(column)} of ${of.map(({ name }) => name).join(', ')} mean that an order was paid? No list knows ${listed.join(', ')}.`,
      help: 'Give the option for each of them that does. The orders of the others are held.',
    };
  });
}

/** The options of a command line that answers everything: those that were given, and what is open. */
function commandOf(
  said: Said,
  { columns, open }: { columns: readonly OpenColumn[]; open: readonly Question[] },
): readonly string[] {
  const { options, unclear, found } = said;
  const isEncodingOpen = unclear.some(({ possible }) => possible !== undefined);
  return [
    ...givenOptions(said).flatMap(({ words, fault }) => (fault === null ? words : [])),
    ...(options.out === '.' ? [] : [`--out ${shellWord(options.out)}`]),
    ...(options.encoding !== undefined
      ? [`--encoding ${shellWord(options.encoding)}`]
      : isEncodingOpen
        ? ['--encoding NAME']
        : []),
    ...columns.map(
      ({ header, likely, oneOf }) =>
        `--column ${oneOf === undefined ? inShellQuotes(`${header}=${likely ?? 'ROLE'}`) : `COLUMN=${oneOf}`}`,
    ),
    ...(withoutYes(found).length > 0 ? ['--consent-yes WORD'] : []),
    ...aboutStates(assumedOf(found, said.said)).map(({ option }) => option),
    ...[...Map.groupBy(open, ({ key }) => key)].flatMap(([key, of]) => {
      const { flag, value, choices = [] } = QUESTIONS[key];
      // A single choice states something that only a person knows.
      const answer = choices.length === 1 ? 'ANSWER' : value;
      const [only, ...others] = new Set(of.map(({ suggestion }) => suggestion ?? answer));
      return others.length === 0 && only !== undefined
        ? [`${flag} ${shellWord(only)}`]
        : of.map(({ source, suggestion }) => `${flag} ${shellWord(`${source}=${suggestion ?? answer}`)}`);
    }),
    options.dryRun === true ? '--dry-run' : '--yes',
  ];
}

/** Every answer of the command line. One is wrong if it names what no file has, or its value is not valid. */
function givenOptions(said: Said): readonly Given[] {
  const { options, found, unclear, codes, brands } = said;
  const names = found.sources.map(({ name }) => name);
  // What a file has that could not be read is not known.
  const isWhole = !found.refused.some(({ unclear: open = [] }) => open.length > 0);
  const judge = (words: string, isWrong: boolean, fault: Omit<Problem, 'where'>): Given => ({
    words,
    fault: isWrong ? { where: words, ...fault } : null,
  });
  const answers = (Object.keys(NOTHING) as (keyof typeof NOTHING)[]).flatMap((key) => {
    const { flag, isValid, fault } = QUESTIONS[key];
    return [...(options[key] ?? [])].map(([source, value]) => {
      const words = `${flag} ${shellWord(source === EVERY_SOURCE ? value : `${source}=${value}`)}`;
      const isKnown = source === EVERY_SOURCE || !isWhole || names.includes(source);
      if (key === 'brand' && brands.length > 0 && isValid(value) && brands.every(({ id }) => id !== value))
        return judge(words, true, {
          message: `${flag} names ${JSON.stringify(value)}, which is no brand of the account.`,
          help: sayBrands(brands),
        });
      if (key === 'renewals' && unclear.length === 0 && isKnown && !found.sources.some(marksRenewals))
        return judge(words, true, {
          message: '--renewals has no effect, because no column is known to mark renewals of subscriptions.',
          help: 'If one does, name it: --column "NAME=renewals". Otherwise leave the option out.',
        });
      return isKnown
        ? judge(words, !isValid(value), {
            message: `${flag}: ${fault}`,
            help: 'Correct the option and run the command again.',
          })
        : judge(words, true, {
            message: `${flag} names the source ${JSON.stringify(source)}, which was not found.`,
            help: `Sources found: ${names.join(', ')}.`,
          });
    });
  });
  const proposed = found.sources.flatMap((source) => source.proposed ?? []);
  const headers = [
    ...proposed.flatMap(({ columns }) => columns.map(({ header }) => header)),
    ...unclear.flatMap(({ header = [] }) => header),
  ];
  const spelled = new Map(headers.map((header) => [foldHeader(header), header]));
  const columns = [...(options.column ?? [])].map(([header, role]) =>
    judge(
      `--column ${inShellQuotes(`${spelled.get(header) ?? header}=${role}`)}`,
      isWhole && !spelled.has(header),
      {
        message: `--column names ${JSON.stringify(header)}, which is in no file for which a layout is proposed.`,
        help:
          headers.length === 0
            ? `Known layouts read every file here. To read a column in another way, write a layout of your own: docs/layouts.md. ${OF_EARLIER_RUN}`
            : `Their columns: ${[...spelled.values()].map((one) => JSON.stringify(toPrintableLine(one))).join(', ')}.`,
      },
    ),
  );
  const paid = (options.paid ?? []).map((word): Given => {
    const state = foldWord(word);
    const places = proposed.map((layout) => columnsCrediting(state, layout));
    const several = places.find((of) => of.length > 1);
    const words = `--paid ${inShellQuotes(word)}`;
    return several === undefined
      ? judge(words, isWhole && places.flat().length === 0, {
          message: `--paid names the state ${JSON.stringify(state)}, which is in no file for which a layout is proposed.`,
          help: `Write it as in the file, or with its column: --paid "COLUMN=WORD". For a known layout, list it under \`include\` of the job. ${OF_EARLIER_RUN}`,
        })
      : judge(words, true, {
          message: `--paid names the state ${JSON.stringify(state)}, which several columns of one file have.`,
          help: `Name the column in which it means that an order was paid: ${several.map((column) => `--paid ${inShellQuotes(`${column}=${state}`)}`).join(' or ')}. If it means so in each, give the option for each.`,
        });
  });
  const given = proposed.flatMap(({ layout }) => layout.consent.given);
  const yes = new Set(given.flatMap(({ equals }) => equals ?? []).map(foldWord));
  const consent = (options.consentYes ?? []).map((word) =>
    judge(`--consent-yes ${inShellQuotes(word)}`, isWhole && !yes.has(foldWord(word)), {
      message: `--consent-yes names ${JSON.stringify(word)}, which is in no column that asks for consent and for which a layout is proposed.`,
      help: `Write it as in the file. If the name of the column does not say that it asks for consent: --column "NAME=consent". ${OF_EARLIER_RUN}`,
    }),
  );
  const layouts = found.sources.map(({ examined }) => examined.layout.name);
  const saved = (options.saveLayout ?? []).map((name) =>
    judge(`--save-layout ${shellWord(name)}`, isWhole && !layouts.includes(name), {
      message: `--save-layout names the layout ${JSON.stringify(toPrintableLine(name))}, which was not offered.`,
      help: 'Run the command without the option: it names each layout that it offers.',
    }),
  );
  const owners = [...(options.owner ?? [])].map(([folded, handle]) =>
    judge(
      `--owner ${shellWord(`${folded}=${handle}`)}`,
      isWhole && !hasHeldFiles(found) && codes.every(({ code }) => foldCode(code) !== folded),
      {
        message: `--owner names the code ${JSON.stringify(folded)}, which no order has.`,
        help: `${codes.length === 0 ? 'No code was found' : `Codes found: ${listed(codes)}`}.`,
      },
    ),
  );
  return [...answers, ...columns, ...paid, ...consent, ...saved, ...owners];
}

function marksRenewals({ examined }: RecognisedSource): boolean {
  return examined.layout.exclusions.some(({ reason }) => reason === 'renewal');
}

function listed(codes: readonly CodeFound[]): string {
  const shown = codes.slice(0, 20).map(({ code }) => toPrintableLine(maskAddresses(code)));
  return shown.join(', ');
}

/** Whether files would be held, or cannot be read with what is said: their codes are not known. */
function hasHeldFiles({ sources }: Recognised): boolean {
  return sources.some(
    ({ examined }) =>
      examined.kind === 'orders' && examined.problems.length + examined.preview.held.length > 0,
  );
}

const OF_EARLIER_RUN =
  'What an earlier run wrote into layouts/ is known, too: correct it there, or move it away to have it proposed again.';

/** The columns of states of a proposed layout that let an order count by a word, as a person has said. */
function columnsCrediting(said: string, { layout }: ProposedLayout): readonly string[] {
  const others = layout.exclusions.filter(({ reason }) => reason === 'other_status' || reason === 'returned');
  return [
    { columns: layout.columns.status ?? [], words: layout.status.credited ?? [] },
    ...others.map(({ columns, unless = [] }) => ({ columns, words: unless })),
  ].flatMap(({ columns, words }) =>
    columns.filter((column) => words.some((word) => waysToSay(word, column).includes(said))),
  );
}
