import type { z } from 'zod';
import { camelCased } from '../../config/fields.ts';
import type { layoutSchema } from './layout-schema.ts';

/**
 * How one kind of export is read: the content of `config/layouts/<name>.yaml`, with defaults filled in.
 * `layoutSchema` says what each setting means. Columns and patterns that a format does not have are empty lists, or
 * null.
 */
export type Layout = DeepReadonly<ReturnType<typeof toLayout>>;

/** How amounts are written. */
export type MoneyFormat = Layout['money'];

/** A test on the cells of one column. Exactly one of its conditions is set. It never passes without the column. */
export type CellTest = Layout['unsubscribed'][number];

/** A rule for orders that are never posted, unless a job credits those of this reason. */
export type ExclusionRule = Layout['exclusions'][number];

/**
 * Other layouts that may fit a file better. Called only if a header does not fit, because reading all layouts
 * takes longer than reading a small file.
 */
export type OtherLayouts = () => readonly Layout[];

type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value;

type LayoutFile = z.output<typeof layoutSchema>;
type CellTestFile = LayoutFile['unsubscribed'][number];

/** Converts the validated file to a Layout. */
export function toLayout(name: string, file: LayoutFile) {
  const { extends: _, time_zone: zone, time_zone_column: zoneColumn = [], ...own } = file;
  const { grouping, lines, codes } = file;
  const sums = Object.entries(grouping.sum).map(([field, { minus = [], ...rule }]) => [
    field,
    { ...rule, minus },
  ]);
  return {
    ...camelCased(own),
    name,
    quote: file.quote === 'none' ? null : file.quote,
    conditionalColumns: file.conditional_columns.map((made) => ({ ...made, when: toCellTest(made.when) })),
    refundedOf: file.refunded_of ?? [],
    timeOfDay: file.time_of_day ?? [],
    grouping: {
      ...camelCased(grouping),
      sum: Object.fromEntries(sums) as { [Field in keyof typeof grouping.sum]: Sum },
      addsNothing: grouping.adds_nothing.map(toCellTest),
    },
    lines: lines === null ? null : { ...lines, minus: lines.minus ?? [], times: lines.times ?? [] },
    times: { formats: file.times, zone, zoneColumn },
    codes: { ...codes, split: [codes.split ?? []].flat() },
    exclusions: file.exclusions.map((rule) => ({
      reason: rule.reason,
      ...toCellTest(rule),
      ...(rule.unless === undefined ? {} : { unless: rule.unless }),
    })),
    consent: toConsent(file),
    unsubscribed: file.unsubscribed.map(toCellTest),
  };
}

/**
 * Σ (plus × times − minus) over the rows of an order. Columns of amounts that a file lacks count as zero. `times` is left out
 * if amounts are those of the row, because the digest of files that were read before it existed must not change.
 */
type Sum = { plus: string[]; minus: string[]; times?: string[] };

/**
 * Derives the consent settings. A layout whose tests already name the columns need not list them again. If it
 * only tests who has unsubscribed, the plain words for "no" in those columns count as neither consent nor
 * refusal.
 */
function toConsent({ consent, unsubscribed }: LayoutFile) {
  const { columns, given, refused, neither, given_at: givenAt = [], refused_at: refusedAt = [] } = consent;
  const tested = columnsOf([...given, ...refused]);
  const left = columns.length + tested.length > 0 ? [] : columnsOf(unsubscribed);
  const isNotLeft = { columns: left, equals: ['no', 'false', '0'] };
  const found = [...tested, ...left, ...(tested.length > 0 ? [] : refusedAt)];
  return {
    columns: columns.length > 0 ? columns : found,
    given: given.map(toCellTest),
    refused: refused.map(toCellTest),
    neither: [...neither, ...(left.length > 0 ? [isNotLeft] : [])].map(toCellTest),
    givenAt,
    refusedAt,
  };
}

function columnsOf(tests: readonly CellTestFile[]): string[] {
  return [...new Set(tests.flatMap(({ columns }) => columns))];
}

function toCellTest(test: CellTestFile) {
  return {
    columns: test.columns,
    equals: test.equals ?? null,
    noneOf: test.none_of ?? null,
    notBlank: test.not_blank ?? false,
    matches: test.matches ?? null,
  };
}
