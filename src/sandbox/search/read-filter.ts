import { GROWTH_MONTHS, type Influencer } from './influencer.ts';

/** Tests whether an influencer matches one filter. */
export type Test = (influencer: Influencer) => boolean;

/** Why a filter cannot be applied, as text for the answer. */
export type Problem = { readonly problem: string };

export type Numeric = string | number | undefined;
export type Range = { readonly left_number?: Numeric; readonly right_number?: Numeric };

export function problem(text: string): Problem {
  return { problem: text };
}

/** Creates the test of a range. Both bounds are inclusive; without a bound, that side is open. */
export function inRange(range: Range, read: (influencer: Influencer) => number): Test {
  const least = range.left_number === undefined ? Number.NEGATIVE_INFINITY : Number(range.left_number);
  const most = range.right_number === undefined ? Number.POSITIVE_INFINITY : Number(range.right_number);
  return (influencer) => {
    const value = read(influencer);
    return value >= least && value <= most;
  };
}

/**
 * Reads a minimum share. A value up to 1 is a fraction, a larger one a percentage; the specification does not
 * say which is meant. Without a weight, any share above 0 matches.
 */
export function readWeight(weight: Numeric): number {
  if (weight === undefined) return Number.MIN_VALUE;
  const share = Number(weight);
  return share > 1 ? share / 100 : share;
}

/**
 * Parses an interval such as `1month`, `i3months` or `6`.
 * @returns the index in `GROWTH_MONTHS`.
 */
export function readInterval(interval: string): number | Problem {
  const months = Number(/^i?(\d{1,2})[ _-]?(?:m|mo|months?)?$/i.exec(interval.trim())?.[1] ?? Number.NaN);
  const column = (GROWTH_MONTHS as readonly number[]).indexOf(months);
  if (column !== -1) return column;
  return problem(`interval: write one of ${GROWTH_MONTHS.map((known) => `${known}month`).join(', ')}`);
}

/** Parses a code in upper or lower case: `MALE` is male. */
export function readCode<Code extends string>(code: string, known: readonly Code[]): Code | Problem {
  const folded = code.trim().toLowerCase();
  return (
    known.find((one) => one === folded) ?? problem(`code: the sandbox knows ${known.join(', ')}, in any case`)
  );
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}
