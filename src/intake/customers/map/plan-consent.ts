import { type ConsentStatement, later } from '../../../core/customer.ts';
import { foldHeader } from '../../../core/text/fold.ts';
import { DAY_MS } from '../../../core/time/day.ts';
import { type Column, listSpellings, type ResolvedHeader } from '../../layout/resolve-header.ts';
import { cellTest } from '../../layout/test-cell.ts';
import type { CellTest, Layout } from '../../layout/to-layout.ts';
import { isBlank } from '../../values/clean-text.ts';
import { timeParser } from '../../values/parse-time.ts';
import { remember } from '../../values/remember.ts';
import {
  asksIfInUse,
  isNo,
  isOfTags,
  refusesByStatus,
  refusesByTag,
  smellOf,
  smellOfPerson,
} from './consent-words.ts';

/** What a row says about consent, as bits, because several columns may each say something. */
export const SAYS = { yes: 1, no: 2, neither: 4, unlisted: 8 } as const;

/** What one column says in one row. */
export type ConsentCell = { readonly column: Column; readonly says: number };

/** The consent columns of one file, and how they are read. */
export type ConsentPlan = {
  /** Columns of the file with information about consent. Empty if the file does not record it. */
  readonly columns: readonly Column[];
  /** True if the column says something about consent, or when it was given or refused. */
  readonly isRead: (index: number) => boolean;
  /** Reads a row. @returns a combination of `SAYS`; 0 if every column is blank. */
  readonly read: (cells: readonly string[]) => number;
  /** Adds the dates to what a row says. */
  readonly state: (cells: readonly string[], says: number) => ConsentStatement;
  /** Reads each column of a row by itself, to explain the row. */
  readonly cells: (cells: readonly string[]) => readonly ConsentCell[];
};

export type PlanConsentOptions = {
  readonly layout: Layout;
  readonly source: { readonly timeZone?: string | null };
  /** The header as written. */
  readonly names: readonly string[];
  /** Age of the file, in milliseconds since 1970: what it says without a date was said by then. */
  readonly asOfMs: number;
  /** False for layouts of orders, whose columns of states are about the order. */
  readonly isOfCustomers: boolean;
};

/**
 * Finds the consent columns in a header, and assigns the layout's tests to each. A column that no layout reads,
 * but whose header says that it takes permission away, is read as such: `Unsubscribed` beside an opt-in time.
 */
export function planConsent(header: ResolvedHeader, options: PlanConsentOptions): ConsentPlan {
  const { layout, source, names, asOfMs, isOfCustomers } = options;
  const { consent, unsubscribed } = layout;
  const columnsOf = (spellings: readonly string[]): readonly Column[] =>
    spellings.flatMap((name) => header.find([name]) ?? []);
  const times = timeReader(layout, source.timeZone ?? null);
  const givenAt = columnsOf(consent.givenAt);
  const isTime = (column: Column): boolean => givenAt.some(({ index }) => index === column.index);
  const refusedAt = columnsOf(consent.refusedAt).filter((column) => !isTime(column));
  /** Columns that date an answer, whether it is a yes or a no. */
  const answeredAt = columnsOf(consent.refusedAt).filter(isTime);
  const rulesOf = (tests: readonly CellTest[], says: number): readonly Rule[] =>
    tests.flatMap((test) =>
      columnsOf(test.columns).map((column) =>
        // Where any text is a refusal, a text that says no is none.
        test.notBlank
          ? { column, says, test: takesAway, isVaried: true }
          : { column, says, test: cellTest(test) },
      ),
    );
  const given = consent.given.flatMap((test) =>
    columnsOf(test.columns).map((column): Rule => {
      const passes = cellTest(test);
      // A time that does not exist is no yes, and neither is a no in a column where any text means yes.
      const isYes = (cell: string): boolean =>
        passes(cell) && (!test.notBlank || (isTime(column) ? times.earliest(cell) !== null : !isNo(cell)));
      return { column, says: SAYS.yes, test: isYes, isVaried: test.notBlank };
    }),
  );
  const read = new Set(listSpellings(layout).map(foldHeader));
  const smelling = names.flatMap((name, index): Rule[] => {
    if (read.has(foldHeader(name))) return [];
    const smell = isOfCustomers ? smellOfPerson(name) : smellOf(name);
    const column = { index, name: name.trim() };
    if (smell === 'refusal') return [{ column, says: SAYS.no, test: takesAway, isVaried: true }];
    if (smell === 'consent') return [{ column, says: SAYS.no, test: isNo }];
    // In a file of orders, these are about the order.
    if (!isOfCustomers) return [];
    if (smell === 'status') return [{ column, says: SAYS.no, test: refusesByStatus }];
    if (asksIfInUse(name)) return [{ column, says: SAYS.no, test: isNo }];
    return isOfTags(name) ? [{ column, says: SAYS.no, test: refusesByTag }] : [];
  });
  const rules: readonly Rule[] = [
    ...given,
    ...rulesOf(consent.refused, SAYS.no),
    ...rulesOf(unsubscribed, SAYS.no),
    ...rulesOf(consent.neither, SAYS.neither),
    ...refusedAt.map((column) => ({ column, says: SAYS.no, test: takesAway, isVaried: true })),
    ...smelling,
  ];
  const declared = new Set(columnsOf(consent.columns).map(({ index }) => index));
  const byIndex = new Map<number, Column>();
  for (const column of [...columnsOf(consent.columns), ...rules.map(({ column }) => column)])
    byIndex.set(column.index, byIndex.get(column.index) ?? column);
  const columns = [...byIndex.values()];
  const readers = columns.map((column) => {
    const own = rules.filter((rule) => rule.column.index === column.index);
    return { column, index: column.index, ...cellReader(own, declared.has(column.index)) };
  });

  /**
   * The date of a no is the latest that the row names. A no without a date is as old as its file. The date of an answer is
   * that of a no only if the answer is the no, and no other column says no.
   */
  function refusedAtOf(cells: readonly string[], saidYes: boolean, consentedAt: number | null): number {
    let last: number | null = null;
    for (const { index } of refusedAt) last = later(last, times.latest(cells[index] ?? ''));
    if (answeredAt.length > 0 && !saidYes && !readers.some(isOtherNo))
      for (const { index } of answeredAt) last = later(last, times.latest(cells[index] ?? ''));
    return later(last ?? asOfMs, consentedAt) ?? asOfMs;

    function isOtherNo({ index, says }: (typeof readers)[number]): boolean {
      const isAnswer = given.some(({ column }) => column.index === index);
      return !isAnswer && (says(cells[index] ?? '') & SAYS.no) !== 0;
    }
  }

  function consentedAtOf(cells: readonly string[]): number | null {
    let last: number | null = null;
    for (const { index } of givenAt) {
      const at = times.earliest(cells[index] ?? '');
      // A date after the file was written is wrong, so the yes has none.
      if (at !== null && at <= asOfMs) last = later(last, at);
    }
    return last;
  }

  return {
    columns,
    isRead: (index) => byIndex.has(index) || givenAt.some((column) => column.index === index),
    read(cells) {
      let sum = 0;
      for (const { index, says, ifBlank } of readers) {
        const cell = cells[index] ?? '';
        sum |= cell === '' ? ifBlank : says(cell);
      }
      return sum;
    },
    state(cells, says) {
      const saidYes = (says & SAYS.yes) !== 0;
      const consentedAt = saidYes ? consentedAtOf(cells) : null;
      const isRefused = (says & (SAYS.no | SAYS.unlisted)) !== 0;
      return { saidYes, consentedAt, refusedAt: isRefused ? refusedAtOf(cells, saidYes, consentedAt) : null };
    },
    cells: (cells) => readers.map(({ column, index, says }) => ({ column, says: says(cells[index] ?? '') })),
  };
}

type Rule = {
  readonly column: Column;
  readonly says: number;
  readonly test: (cell: string) => boolean;
  /** True if the cells differ from row to row, so that results are not worth caching. */
  readonly isVaried?: boolean;
};

/** True if a cell of a column of refusals is one. */
function takesAway(cell: string): boolean {
  return !isBlank(cell) && !isNo(cell);
}

function cellReader(
  rules: readonly Rule[],
  isDeclared: boolean,
): { readonly says: (cell: string) => number; readonly ifBlank: number } {
  const read = (cell: string): number => {
    const isEmpty = isBlank(cell);
    let sum = 0;
    // A blank cell may say no, if the layout says so, and never yes.
    for (const { says, test } of rules) if ((!isEmpty || says !== SAYS.yes) && test(cell)) sum |= says;
    if (sum !== 0 || !isDeclared || isEmpty) return sum;
    return rules.some(({ isVaried }) => isVaried) && isNo(cell) ? SAYS.neither : SAYS.unlisted;
  };
  const says = rules.some(({ isVaried }) => isVaried) ? read : remember(read);
  return { says, ifBlank: read('') };
}

const HOUR_MS = 3_600_000;
/** Zones are at most 14 hours ahead of UTC and 12 behind it. */
const UNKNOWN_ZONE_MS = 14 * HOUR_MS;

/**
 * Reads times of consent, which are compared with each other. If the zone is unknown or the time of day is
 * missing, a yes is as early and a no as late as it may have been, so that no yes seems later than it was.
 */
function timeReader(layout: Layout, timeZone: string | null) {
  const zone = layout.times.zone ?? timeZone;
  const parse = timeParser(layout.times.formats, zone);
  const parseInUtc = timeParser(layout.times.formats, 'UTC');
  /** A time, and by how much it may be wrong: a time with its own offset needs no zone. */
  const read = (cell: string): { readonly at: number; readonly slack: number } | null => {
    if (isBlank(cell)) return null;
    const own = parse(cell);
    if (typeof own === 'string') return { at: Date.parse(own), slack: 0 };
    const instant = own.code === 'time_without_zone' ? parseInUtc(cell) : own;
    return typeof instant === 'string' ? { at: Date.parse(instant), slack: UNKNOWN_ZONE_MS } : null;
  };
  return {
    earliest(cell: string): number | null {
      const time = read(cell);
      return time === null ? null : time.at - time.slack;
    },
    latest(cell: string): number | null {
      const time = read(cell);
      return time === null ? null : time.at + time.slack + (cell.includes(':') ? 0 : DAY_MS);
    },
  };
}
