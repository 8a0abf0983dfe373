import type { ColumnRole, StatedRoles } from '../../../core/layout.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { joinLines } from '../../../core/text/wrap.ts';
import {
  isAnswer,
  isInUse,
  isNo,
  isOfOtherChannel,
  isYes,
  smellOf,
} from '../../../intake/customers/map/consent-words.ts';
import type { ColumnDecision, UnclearColumn } from './assign-columns.ts';
import { describeColumn, type MeasuredColumn, timesOf } from './column-values.ts';
import { headOf, list } from './proposed-text.ts';

/*
 * A layout for a list of customers that no layout knows. Only words that are known to mean yes, below a header that
 * asks for consent, are one. Every other word is a no, and so is any text in a column whose header takes permission
 * away. What takes a yes away is shown and asked about: it is read as a no until a person says otherwise.
 */

export type ProposedCustomers = {
  readonly text: string;
  readonly columns: readonly ColumnDecision[];
  /** Columns that may turn a yes into a no, and about which nobody has said anything. */
  readonly assumed: readonly UnclearColumn[];
};

/** Headers that may be about consent, in addition to those that `smellOf` knows. */
const LIKE_CONSENT = /subscri|marketing|permission/iu;
/** A column of consent has few different words. */
const MAX_WORDS = 12;

type Consent = {
  readonly column: MeasuredColumn;
  /** `words`: some may be a yes. `refusal`: any text is a no. */
  readonly kind: 'words' | 'refusal';
  readonly given: readonly string[];
  readonly refused: readonly string[];
  /** Words that say neither, beside a column that says yes. */
  readonly neither: readonly string[];
};

/**
 * The columns of which a person must say whether they ask for consent: their cells answer yes or no, and no other column
 * is known to say yes. Empty if one does.
 */
export function mayBeConsent(
  columns: readonly MeasuredColumn[],
  stated: StatedRoles,
): readonly UnclearColumn[] {
  const read = columns.map((column) => readConsent(column, stated.get(foldHeader(column.header))));
  if (read.some((consent) => consent !== null && consent.given.length > 0)) return [];
  const found = openAnswers(columns, stated);
  return found.map((column) => ({
    ...describeColumn(column),
    why: 'its cells say yes or no, and its name does not say to what',
    likely: found.length === 1 ? 'consent' : 'unused',
    isOfCustomers: true,
  }));
}

/** The columns whose cells answer a question that their name does not ask, and of which nobody has said what it is. */
function openAnswers(columns: readonly MeasuredColumn[], stated: StatedRoles): readonly MeasuredColumn[] {
  return columns.filter(
    (column) =>
      !stated.has(foldHeader(column.header)) &&
      readConsent(column, undefined) === null &&
      !isOfOtherChannel(column.header) &&
      [...column.cells.counts.keys()].some(isAnswer) &&
      areAnswers(column),
  );
}

function areAnswers({ cells }: Pick<MeasuredColumn, 'cells'>): boolean {
  return cells.share((cell) => isAnswer(cell) || isNo(cell)) === 1;
}

/** Proposes a layout of customers, with comments for the person who checks it. */
export function proposeCustomers(
  columns: readonly MeasuredColumn[],
  options: { readonly email: MeasuredColumn; readonly name: string; readonly stated: StatedRoles },
): ProposedCustomers {
  const { email, name, stated } = options;
  const roleOf = ({ header }: MeasuredColumn): ColumnRole | undefined => stated.get(foldHeader(header));
  const others = columns.filter((column) => column !== email && column.header !== '');
  const open = openAnswers(others, stated);
  const found = others.flatMap(
    (column) => readConsent(column, open.includes(column) ? 'excludes' : roleOf(column)) ?? [],
  );
  // Beside a known yes, that an address is in use says nothing. Alone, it is not known to be a yes.
  const saysYes = found.some(({ given }) => given.length > 0);
  const read = found.map((one) => {
    const neither = saysYes && one.given.length === 0 ? one.refused.filter(isInUse) : [];
    return { ...one, neither, refused: one.refused.filter((word) => !neither.includes(word)) };
  });
  // A run reads such a column as a refusal, unless the layout says that it means neither.
  const ignored = others.filter((column) => roleOf(column) === 'unused' && smellOf(column.header) !== null);
  const unasked = read.filter(
    ({ column, given }) => given.length === 0 && roleOf(column) === undefined && !open.includes(column),
  );
  return {
    text: customersText(email, { others, read, ignored, name }),
    columns: [email, ...others].map((column) => {
      const consent = read.find((one) => one.column === column);
      const role = consent === undefined ? null : consent.kind === 'words' ? 'consent' : 'excludes';
      return {
        header: column.header,
        // Other values may be about people.
        samples: consent === undefined ? [] : describeColumn(column).samples,
        role: column === email ? 'email' : role,
        why: roleOf(column) === undefined ? whyOf(column, column === email, consent) : 'as you said',
      };
    }),
    assumed: [
      ...open.map((column) => ({
        ...describeColumn(column),
        why: 'its cells say yes or no, and its name does not say to what: a yes may be a refusal',
        likely: 'unused' as const,
        isOfCustomers: true,
      })),
      ...(read.length < 2 ? [] : unasked).map(({ column, kind, neither }) => ({
        ...describeColumn(column),
        why:
          kind === 'refusal'
            ? 'its name says that it takes permission away, so whoever has text in it is not submitted'
            : `none of its words is known to mean yes, so whoever has ${neither.length === 0 ? 'a word' : `another word than ${neither.join(', ')}`} in it is not submitted`,
        likely: kind === 'refusal' ? ('excludes' as const) : ('consent' as const),
        isOfCustomers: true,
      })),
    ],
  };
}

function readConsent(column: MeasuredColumn, role: ColumnRole | undefined): Consent | null {
  const { header, cells } = column;
  if (role === 'unused') return null;
  const smell = smellOf(header);
  if (role === 'excludes' || (role === undefined && smell === 'refusal'))
    return { column, kind: 'refusal', given: [], refused: [], neither: [] };
  const isAsked = role === 'consent';
  const mayBe = smell !== null || (LIKE_CONSENT.test(header) && !isOfOtherChannel(header));
  const { counts } = cells;
  if (!isAsked && (!mayBe || counts.size === 0 || counts.size > MAX_WORDS)) return null;
  const words = [...counts.keys()].slice(0, MAX_WORDS);
  const given = words.filter((word) => isYes(word, header, isAsked));
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
    return smellOf(header) === 'refusal'
      ? 'its name says that it takes permission away'
      : 'its cells say yes or no, and a yes may be a refusal';
  if (consent !== undefined)
    return consent.given.length === 0 ? 'no word is known to mean yes, so each is a no' : 'by its name';
  if (isOfOtherChannel(header)) return 'it is about another channel than e-mail';
  if (smellOf(header) === null && !LIKE_CONSENT.test(header)) return 'its name says nothing about consent';
  return cells.filled === 0 ? 'it is always blank' : 'it has too many different values for an answer';
}

function customersText(
  { header: email }: MeasuredColumn,
  options: {
    readonly others: readonly MeasuredColumn[];
    readonly read: readonly Consent[];
    readonly ignored: readonly MeasuredColumn[];
    readonly name: string;
  },
): string {
  const { others, read, ignored, name } = options;
  // Words first: the columns that say yes identify the export.
  const sorted = read.toSorted(
    (one, other) => Number(one.kind === 'refusal') - Number(other.kind === 'refusal'),
  );
  const headers = sorted.map(({ column }) => column.header);
  const proof = headers.length > 0 ? headers : others.map(({ header }) => header);
  const test = ({ header }: MeasuredColumn, words: readonly string[]): readonly string[] =>
    words.length === 0 ? [] : [`    - { columns: ${list([header])}, equals: ${list(words)} }`];
  const notBlank = ({ header }: MeasuredColumn): string =>
    `    - { columns: ${list([header])}, not_blank: true }`;
  const given = sorted.flatMap(({ column, given }) => test(column, given));
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
    read.length + ignored.length > 0 && 'consent:',
    read.length > 0 && `  columns: ${list(headers)}`,
    given.length === 0
      ? read.length > 0 &&
          '  # No word is known to mean yes, so nobody is submitted. List those that do:  given: [{ columns: […], equals: […] }]'
      : ['  given:     # these customers are submitted', ...given],
    refused.length > 0 && ['  refused:     # no, and every word that is not known to mean yes', ...refused],
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
