import { GROWTH_MONTHS, type Influencer } from './influencer.ts';

/** Whether an influencer fits one filter. */
export type Test = (influencer: Influencer) => boolean;

/** A filter that cannot be applied, in words for the answer. */
export type Problem = { readonly problem: string };

export type Numeric = string | number | undefined;
export type Range = { readonly left_number?: Numeric; readonly right_number?: Numeric };

export function problem(text: string): Problem {
  return { problem: text };
}

/** Both bounds belong to the range; an absent one leaves its side open. */
export function inRange(range: Range, read: (influencer: Influencer) => number): Test {
  const least = range.left_number === undefined ? Number.NEGATIVE_INFINITY : Number(range.left_number);
  const most = range.right_number === undefined ? Number.POSITIVE_INFINITY : Number(range.right_number);
  return (influencer) => {
    const value = read(influencer);
    return value >= least && value <= most;
  };
}

/**
 * A minimum share. Up to 1 it is a fraction, above it a percentage; the specification does not say which is meant. Absent: anything
 * above nothing.
 */
export function readWeight(weight: Numeric): number {
  if (weight === undefined) return Number.MIN_VALUE;
  const share = Number(weight);
  return share > 1 ? share / 100 : share;
}

/** `1month`, `i3months`, `6`: the column of the growth over so many months. */
export function readInterval(interval: string): number | Problem {
  const months = Number(/^i?(\d{1,2})[ _-]?(?:m|mo|months?)?$/i.exec(interval.trim())?.[1] ?? Number.NaN);
  const column = (GROWTH_MONTHS as readonly number[]).indexOf(months);
  if (column !== -1) return column;
  return problem(`interval: write one of ${GROWTH_MONTHS.map((known) => `${known}month`).join(', ')}`);
}

/** A code in any case: `MALE` is male. */
export function readCode<Code extends string>(code: string, known: readonly Code[]): Code | Problem {
  const folded = code.trim().toLowerCase();
  return (
    known.find((one) => one === folded) ?? problem(`code: the sandbox knows ${known.join(', ')}, in any case`)
  );
}

export function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'problem' in value;
}
