import type { z } from 'zod';
import type { Layout, SummedField } from '../../core/layout.ts';
import type { layoutSchema } from './layout-schema.ts';

type LayoutFile = z.output<typeof layoutSchema>;
type CellTestFile = LayoutFile['grouping']['adds_nothing'][number];

/** Converts the validated file to a Layout. */
export function toLayout(name: string, file: LayoutFile): Layout {
  const { grouping } = file;
  const sums = Object.entries(grouping.sum).map(([field, rule]) => [
    field,
    { plus: rule.plus, minus: rule.minus ?? [] },
  ]);
  return {
    name,
    title: file.title,
    delimiter: file.delimiter,
    quote: file.quote === 'none' ? null : file.quote,
    encoding: file.encoding,
    preambleLines: file.preamble_lines,
    belowHeader: file.below_header,
    footer: file.footer,
    endsWithoutLineBreak: file.ends_without_line_break,
    lacks: file.lacks,
    currency: file.currency,
    columns: file.columns as Layout['columns'],
    required: file.required,
    requiredAny: file.required_any,
    signature: file.signature,
    mayBeMissing: file.may_be_missing,
    conditionalColumns: file.conditional_columns.map(({ name: made, columns, when }) => ({
      name: made,
      columns,
      when: toCellTest(when),
    })),
    orderIdPattern: file.order_id_pattern,
    zeroFallsThrough: file.zero_falls_through,
    refundList: file.refund_list,
    refundedOf: file.refunded_of ?? [],
    leftAfterRefund: file.left_after_refund,
    timeOfDay: file.time_of_day ?? [],
    grouping: {
      lineItems: grouping.line_items,
      sum: Object.fromEntries(sums) as Record<SummedField, { plus: string[]; minus: string[] }>,
      item: grouping.item,
      addsNothing: grouping.adds_nothing.map(toCellTest),
    },
    lines:
      file.lines === null
        ? null
        : { ...file.lines, minus: file.lines.minus ?? [], times: file.lines.times ?? [] },
    money: file.money,
    times: { formats: file.times, zone: file.time_zone, zoneColumn: file.time_zone_column ?? [] },
    codes: { ...file.codes, split: [file.codes.split ?? []].flat() },
    links: file.links,
    status: file.status,
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
 * Derives the consent settings. A layout whose tests already name the columns need not list them again. If it
 * only tests who has unsubscribed, the plain words for "no" in those columns count as neither consent nor
 * refusal.
 */
function toConsent({ consent, unsubscribed }: LayoutFile): Layout['consent'] {
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
