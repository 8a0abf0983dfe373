import type { ColumnRole, StatedRoles } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { joinLines } from '../../../core/text/wrap.ts';
import {
  isAnswer,
  isInUse,
  isNo,
  isOfOtherChannel,
  isOfTags,
  isRefusal,
  isTimeOfConsent,
  isYes,
  smellOfPerson,
} from '../../../intake/customers/map/consent-words.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';
import type { UnclearColumn } from './assign-columns.ts';
import { Cells, describeColumn, isDateOrderOpen, type MeasuredColumn, timesOf } from './column-values.ts';
import type { ProposedLayout } from './proposed-layout.ts';
import { headOf, list } from './proposed-text.ts';

/*
 * A layout for a list of customers that no layout knows. Only words that are known to mean yes, below a header that
 * asks for consent, are one, and times below a header that is that of the consent. Every other word is a no, and so is
 * any text in a column whose header takes permission away. What takes a yes away is shown and asked about: it is read
 * as a no until a person says otherwise.
 */

/** Headers that may be about consent, in addition to those that `smellOfPerson` knows. */
const LIKE_CONSENT = /subscri|marketing|permission/iu;
/** A column of consent has few different words. */
const MAX_WORDS = 12;

type Consent = {
  readonly column: MeasuredColumn;
  /** `words`: some may be a yes. `times`: each is that of a yes. `refusal`: any text is a no. */
  readonly kind: 'words' | 'times' | 'refusal';
  readonly given: readonly string[];
  readonly refused: readonly string[];
  /** Words that say neither, beside a column that says yes. */
  readonly neither: readonly string[];
};

/** What a person has said: the roles of columns, and the words that mean consent, folded. */
type Said = { readonly stated: StatedRoles; readonly consentWords: ReadonlySet<string> };

/** True if a column has something that is known to mean yes. */
function hasYes({ kind, given }: Consent): boolean {
  return kind === 'times' || given.length > 0;
}

/**
 * The columns of which a person must say whether they ask for consent: their cells answer yes or no, or are times of what
 * may be consent, and no other column is known to say yes. Empty if one does.
 */
export function mayBeConsent(
  columns: readonly MeasuredColumn[],
  { stated, consentWords }: Said,
): readonly UnclearColumn[] {
  const read = columns.map((column) =>
    readConsent(column, stated.get(foldHeader(column.header)), consentWords),
  );
  if (read.some((consent) => consent !== null && hasYes(consent))) return [];
  const found = unaskedAnswers(columns, stated);
  return [
    ...found.map((column) =>
      unclear(
        column,
        found.length === 1 ? 'consent' : 'unused',
        'its cells say yes or no, and its name does not say to what',
      ),
    ),
    ...columns.flatMap((column) => {
      const why = whyTimesAreOpen(column, stated.get(foldHeader(column.header)));
      return why === null ? [] : unclear(column, 'unused', why);
    }),
  ];
}

function unclear(column: MeasuredColumn, likely: ColumnRole, why: string): UnclearColumn {
  return { ...describeColumn(column), why, likely, isOfCustomers: true };
}

/** Why it is not known whether the times of a column are those of consent; null if it is, or it has none. */
function whyTimesAreOpen(column: MeasuredColumn, role: ColumnRole | undefined): string | null {
  const formats = formatsOf(column);
  if (formats === null || (role !== undefined && role !== 'consent')) return null;
  if (role === 'consent' || isTimeOfConsent(column.header))
    return isDateOrderOpen(formats)
      ? 'its dates do not show whether the day or the month is first. Export them as 2026-10-31'
      : null;
  const smell = smellOfPerson(column.header);
  return smell !== 'refusal' && mayAskForConsent(column.header)
    ? 'it has times, and its name does not say whether they are those of the consent'
    : null;
}

/** The formats of the times of a column, beside which a cell may say no; null if it has others or none. */
function formatsOf({ cells }: MeasuredColumn): readonly string[] | null {
  const said = new Cells();
  for (const cell of cells.counts.keys()) if (!isNo(cell)) said.add(cell);
  return said.filled === 0 ? null : timesOf(said).formats;
}

function mayAskForConsent(header: string): boolean {
  return smellOfPerson(header) !== null || (LIKE_CONSENT.test(header) && !isOfOtherChannel(header));
}

/** The columns whose cells answer a question that their name does not ask, and of which nobody has said what it is. */
function unaskedAnswers(columns: readonly MeasuredColumn[], stated: StatedRoles): readonly MeasuredColumn[] {
  return columns.filter(
    (column) =>
      !stated.has(foldHeader(column.header)) &&
      readConsent(column, undefined) === null &&
      !isOfOtherChannel(column.header) &&
      [...column.cells.counts.keys()].some(isAnswer) &&
      column.cells.share((cell) => isAnswer(cell) || isNo(cell)) === 1,
  );
}

/** Proposes a layout of customers, with comments for the person who checks it. */
export function proposeCustomers(
  columns: readonly MeasuredColumn[],
  options: Said & { readonly email: MeasuredColumn; readonly name: string },
): Omit<Required<ProposedLayout>, 'layout' | 'unknownStates'> {
  const { email, name, stated, consentWords } = options;
  const roleOf = ({ header }: MeasuredColumn): ColumnRole | undefined => stated.get(foldHeader(header));
  const others = columns.filter((column) => column !== email && column.header !== '');
  const open = unaskedAnswers(others, stated);
  const found = others.flatMap(
    (column) => readConsent(column, open.includes(column) ? 'excludes' : roleOf(column), consentWords) ?? [],
  );
  // Beside a known yes, that an address is in use says nothing. Alone, it is not known to be a yes.
  const isKnown = found.some(hasYes);
  // Whoever is in a list of refusals has refused, whatever words for the reason stand beside it.
  const refusals = isKnown ? [] : found.filter(refusesAll);
  const isOfRefusals = refusals.length > 0;
  const read = (isOfRefusals ? refusals : found).map((one) => {
    const neither = isKnown && one.given.length === 0 ? one.refused.filter(isInUse) : [];
    return { ...one, neither, refused: one.refused.filter((word) => !neither.includes(word)) };
  });
  // A run reads such a column as a refusal, unless the layout says that it means neither.
  const ignored = others.filter(
    (column) => roleOf(column) === 'unused' && smellOfPerson(column.header) !== null,
  );
  const unasked = read.filter(
    (one) =>
      !hasYes(one) &&
      roleOf(one.column) === undefined &&
      !open.includes(one.column) &&
      (read.length > 1 || one.kind === 'words'),
  );
  return {
    text: customersText(email, { others, read, ignored, name, isOfRefusals }),
    columns: [email, ...others].map((column) => {
      const consent = read.find((one) => one.column === column);
      const role = consent === undefined ? null : consent.kind === 'refusal' ? 'excludes' : 'consent';
      return {
        header: column.header,
        // Other values may be about people.
        samples: consent === undefined ? [] : describeColumn(column).samples,
        role: column === email ? 'email' : role,
        why: roleOf(column) === undefined ? whyOf(column, column === email, consent) : 'as you said',
      };
    }),
    assumed: [
      ...open.map((column) =>
        unclear(
          column,
          'unused',
          'its cells say yes or no, and its name does not say to what: a yes may be a refusal',
        ),
      ),
      ...unasked.map(({ column, kind, neither }) =>
        kind === 'refusal'
          ? unclear(
              column,
              'excludes',
              'its name says that it takes permission away, so whoever has text in it is not submitted',
            )
          : unclear(
              column,
              'consent',
              `none of its words is known to mean yes, so whoever has ${neither.length === 0 ? 'a word' : `another word than ${neither.join(', ')}`} in it is not submitted`,
            ),
      ),
    ],
    unknownYes: new Map(
      read.flatMap(({ column, kind, refused }) =>
        isKnown || kind !== 'words' || refused.length === 0 ? [] : [[column.header, refused] as const],
      ),
    ),
    withoutYes:
      isKnown || isOfRefusals
        ? []
        : others
            .filter((column) => (roleOf(column) ?? smellOfPerson(column.header)) === 'consent')
            .map(({ header }) => header),
  };
}

/** True if every row of a list refuses: that of the addresses that bounced, or of those who unsubscribed. */
function refusesAll({ column: { cells }, kind }: Consent): boolean {
  return kind === 'refusal' && cells.filled > 0 && cells.filled === cells.rows && cells.share(isNo) === 0;
}

function readConsent(
  column: MeasuredColumn,
  role: ColumnRole | undefined,
  consentWords: Said['consentWords'] = new Set(),
): Consent | null {
  const { header, cells } = column;
  if (role === 'unused') return null;
  const smell = smellOfPerson(header);
  if (role === 'excludes' || (role === undefined && smell === 'refusal'))
    return { column, kind: 'refusal', given: [], refused: [], neither: [] };
  const isAsked = role === 'consent';
  const formats = isAsked || isTimeOfConsent(header) ? formatsOf(column) : null;
  if (formats !== null && !isDateOrderOpen(formats))
    return { column, kind: 'times', given: [], refused: [], neither: [] };
  const { counts } = cells;
  const mayRefuse = mayAskForConsent(header) || (!isOfTags(header) && [...counts.keys()].some(isRefusal));
  if (!isAsked && (!mayRefuse || counts.size === 0 || counts.size > MAX_WORDS)) return null;
  const words = [...counts.keys()].slice(0, MAX_WORDS);
  const given = words.filter((word) => isYes(word, header, isAsked) || consentWords.has(foldWord(word)));
  return {
    column,
    kind: 'words',
    given,
    refused: words.filter((word) => !given.includes(word)),
    neither: [],
  };
}

function whyOf({ header, cells }: MeasuredColumn, isEmail: boolean, consent: Consent | undefined): string {
  if (isEmail) return 'by its name and values';
  if (consent?.kind === 'refusal')
    return smellOfPerson(header) === 'refusal'
      ? 'its name says that it takes permission away'
      : 'its cells say yes or no, and a yes may be a refusal';
  if (consent?.kind === 'times') return 'its times are those of the consent';
  if (consent !== undefined)
    return consent.given.length === 0 ? 'no word is known to mean yes, so each is a no' : 'by its name';
  if (isOfOtherChannel(header)) return 'it is about another channel than e-mail';
  if (smellOfPerson(header) === null && !LIKE_CONSENT.test(header))
    return 'its name says nothing about consent';
  return cells.filled === 0 ? 'it is always blank' : 'it has too many different values for an answer';
}

function customersText(
  { header: email }: MeasuredColumn,
  options: {
    readonly others: readonly MeasuredColumn[];
    readonly read: readonly Consent[];
    readonly ignored: readonly MeasuredColumn[];
    readonly name: string;
    /** Whether everybody in the list has refused. */
    readonly isOfRefusals: boolean;
  },
): string {
  const { others, read, ignored, name, isOfRefusals } = options;
  // Words first: the columns that say yes identify the export.
  const sorted = read.toSorted(
    (one, other) => Number(one.kind === 'refusal') - Number(other.kind === 'refusal'),
  );
  const headers = sorted.map(({ column }) => column.header);
  // Beside a column that says yes or no, a time dates the answer, and is none.
  const isAnswered = sorted.some(({ given }) => given.length > 0);
  const times = sorted.filter(({ kind }) => kind === 'times');
  const says = isAnswered ? sorted.filter(({ kind }) => kind !== 'times') : sorted;
  const proof = headers.length > 0 ? headers : others.map(({ header }) => header);
  const test = ({ header }: MeasuredColumn, words: readonly string[]): readonly string[] =>
    words.length === 0 ? [] : [`    - { columns: ${list([header])}, equals: ${list(words)} }`];
  const notBlank = ({ header }: MeasuredColumn): string =>
    `    - { columns: ${list([header])}, not_blank: true }`;
  const given = says.flatMap(({ column, kind, given }) =>
    kind === 'times' ? [notBlank(column)] : test(column, given),
  );
  const refused = sorted.flatMap(({ column, kind, refused }) =>
    kind === 'refusal'
      ? `${notBlank(column)}     # any text is a refusal, unless it says no`
      : test(column, refused),
  );
  const neither = sorted.flatMap(({ column, neither }) => test(column, neither));
  const dated = sorted.filter(({ column, kind }) => kind === 'refusal' && mayBeTimes(column));
  return joinLines(
    headOf(name),
    read.length === 0 && 'lacks: [consent]     # no column of consent was found: see docs/customers.md',
    `columns: { email: ${list([email])} }`,
    'required: [email]',
    `signature: [${list([email, ...proof.slice(0, 2)])}]`,
    times.length > 0 &&
      `times: ${list([...new Set(times.flatMap(({ column }) => formatsOf(column) ?? []))])}`,
    read.length + ignored.length > 0 && 'consent:',
    read.length > 0 && `  columns: ${list(says.map(({ column }) => column.header))}`,
    given.length === 0
      ? read.length > 0 &&
          !isOfRefusals &&
          '  # No word is known to mean yes, so customers are submitted only if the source has consent: not_recorded, and never those who refused. List the words that mean yes:  given: [{ columns: […], equals: […] }]'
      : ['  given:     # these customers are submitted', ...given],
    times.length > 0 &&
      `  given_at: ${list(times.map(({ column }) => column.header))}     # the time of the consent`,
    isOfRefusals
      ? `  refused: [{ columns: ${list([email])}, not_blank: true }]     # everybody in this list has refused`
      : refused.length > 0 && [
          '  refused:     # no, and every word that is not known to mean yes',
          ...refused,
        ],
    dated.length > 0 &&
      `  refused_at: ${list(dated.map(({ column }) => column.header))}     # the time of the refusal`,
    ignored.length + neither.length > 0 && [
      '  neither:     # what does not matter',
      ...ignored.map(notBlank),
      ...neither,
    ],
    '',
  );
}

function mayBeTimes({ cells }: MeasuredColumn): boolean {
  return cells.filled === 0 || timesOf(cells).formats !== null;
}
