import { z } from 'zod';
import { optional } from '../../config/fields.ts';
import { LAYOUT_FIELDS, type LayoutField } from '../../core/layout.ts';
import { linearPattern } from './linear-pattern.ts';

/** Parts of the schema of layouts. */

export const names = z.array(z.string().trim().min(1)).min(1);

export const regex = z
  .string()
  .refine(isRegex, {
    error: 'This is not a regular expression of RE2 (which has no lookahead and no back-references).',
  });

const cellTest = {
  columns: names.describe("Spellings of the column's header."),
  equals: names.optional().describe('Any of these words, ignoring case and outer blanks.'),
  none_of: names
    .optional()
    .describe('None of these words, ignoring case and outer blanks. A blank cell is none of them.'),
  not_blank: z.literal(true).optional().describe('Any value except a blank.'),
  matches: regex.optional().describe('Regular expression (RE2), ignoring case.'),
};

type OneTest = { equals?: unknown; none_of?: unknown; not_blank?: unknown; matches?: unknown };

function hasOneTest({ equals, none_of, not_blank, matches }: OneTest): boolean {
  return [equals, none_of, not_blank, matches].filter((one) => one !== undefined).length === 1;
}
const ONE_TEST = { error: 'Give exactly one of equals, none_of, not_blank and matches.' };

export const oneCellTest = z.strictObject(cellTest).refine(hasOneTest, ONE_TEST);
export const cellTests = z.array(oneCellTest).default([]);

/** A rule for orders that are never posted. */
export const exclusionRule = z
  .strictObject({
    reason: z.string().regex(/^[a-z][a-z0-9_]{0,40}$/),
    ...cellTest,
    unless: z
      .array(z.string().trim())
      .min(1)
      .optional()
      .describe(
        'The only words that let an order pass, "" for a blank. With any other word that the test does not match, the order is excluded as unknown_<reason>.',
      ),
  })
  .refine(hasOneTest, ONE_TEST)
  .refine(({ unless, equals, matches }) => unless === undefined || (equals ?? matches) !== undefined, {
    error: 'unless goes with equals or matches. The other tests already decide about every word.',
  });

export const field = z.enum(LAYOUT_FIELDS, {
  error: `This is not a field. Fields: ${LAYOUT_FIELDS.join(', ')}.`,
});

export const orderIdPattern = optional(regex).describe(
  'For exports that wrap the order id (RE2): the first group is the id. Other ids are rejected.',
);
export const refundedOf = names
  .optional()
  .describe(
    'Columns of the total that refunded is a part of, if it may be in another currency than total. If the totals differ, only a full refund is known.',
  );
export const minus = names.optional().describe('Columns to subtract.');
export const times = names.optional().describe('Column of the quantity, if plus has the price of one piece.');
export const sum = z
  .strictObject({
    plus: z.array(z.string().trim().min(1)).default([]).describe('Columns to add, row by row.'),
    minus,
    times,
  })
  .refine((rule) => rule.plus.length > 0 || rule.minus !== undefined, {
    error: 'Name columns to add (plus) or to subtract (minus).',
  })
  .refine((rule) => rule.plus.length > 0 || rule.times === undefined, {
    error: 'times multiplies what plus adds. Name the columns of the prices under plus.',
  });

type Tested = { readonly columns: readonly string[] };

type LoweringSettings = {
  readonly columns: Readonly<Partial<Record<LayoutField, readonly string[]>>>;
  readonly exclusions: readonly Tested[];
  readonly grouping: {
    readonly adds_nothing: readonly Tested[];
    readonly sum: Readonly<Record<string, { readonly minus?: readonly string[] | undefined }>>;
  };
  readonly refund_list: Tested | null;
  readonly refunded_of?: readonly string[] | undefined;
  readonly left_after_refund: readonly {
    readonly before: readonly string[];
    readonly after: readonly string[];
  }[];
  readonly conditional_columns: readonly (Tested & { readonly when: Tested })[];
};

/** Which columns hold consent, and what their values mean. */
export const consentSchema = z
  .strictObject({
    columns: z
      .array(z.string().trim().min(1))
      .default([])
      .describe(
        'Spellings of the columns of consent. A file that has none of them is held. Default: the columns of given and refused, else those of unsubscribed and refused_at.',
      ),
    given: cellTests.describe('Tests for customers who said yes; one must pass.'),
    refused: cellTests.describe('Tests for customers who said no; one must pass.'),
    neither: cellTests.describe(
      'Values that say neither yes nor no. A row with any other value is rejected.',
    ),
    given_at: names
      .optional()
      .describe('Columns with the time of the yes. A yes without a time never replaces a no.'),
    refused_at: names
      .optional()
      .describe(
        'Columns with the time of the no. Any text in them is a no, except in columns that given_at names, too: they date the answer, yes or no.',
      ),
  })
  .prefault({})
  .describe('Which columns hold consent, and what their values mean.');

/** Lists the spellings of all columns that can only lower an amount or exclude an order. */
export function listLowering({
  columns,
  exclusions,
  grouping,
  refund_list,
  refunded_of,
  left_after_refund,
  conditional_columns,
}: LoweringSettings): readonly string[] {
  return [
    ...[columns.status, columns.refunded, columns.cancelled_at].flatMap((names) => names ?? []),
    ...[...exclusions, ...grouping.adds_nothing].flatMap((rule) => rule.columns),
    ...Object.values(grouping.sum).flatMap(({ minus }) => minus ?? []),
    ...(refund_list?.columns ?? []),
    ...(refunded_of ?? []),
    ...left_after_refund.flatMap(({ before, after }) => [...before, ...after]),
    ...conditional_columns.flatMap((made) => [...made.columns, ...made.when.columns]),
  ];
}

/** Lists the spellings of all columns that can only take permission away. */
export function listRefusing({
  consent,
  unsubscribed,
}: {
  consent: { readonly refused: readonly Tested[]; readonly refused_at?: readonly string[] | undefined };
  unsubscribed: readonly Tested[];
}): readonly string[] {
  const tests = [...consent.refused, ...unsubscribed];
  return [...tests.flatMap(({ columns }) => columns), ...(consent.refused_at ?? [])];
}

function isRegex(source: string): boolean {
  try {
    linearPattern(source);
    return true;
  } catch {
    return false;
  }
}
