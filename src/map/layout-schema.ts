import { z } from 'zod';
import { LAYOUT_FIELDS, type Layout, type LayoutField, type SummedField } from '../model/layout.ts';
import { isTimeFormat, saysZone } from './parse-time.ts';

const names = z.array(z.string().trim().min(1)).min(1);

const regex = z.string().refine(isRegex, { error: 'This is not a regular expression.' });

const cellTest = {
  columns: names.describe("Spellings of the column's header."),
  equals: names.optional().describe('Any of these words; case and outer blanks do not count.'),
  not_blank: z.literal(true).optional().describe('Anything at all.'),
  matches: regex.optional().describe('Regular expression; case does not count.'),
};

function hasOneTest(test: { equals?: unknown; not_blank?: unknown; matches?: unknown }): boolean {
  return [test.equals, test.not_blank, test.matches].filter((one) => one !== undefined).length === 1;
}
const ONE_TEST = { error: 'Give exactly one of equals, not_blank and matches.' };

const cellTests = z.array(z.strictObject(cellTest).refine(hasOneTest, ONE_TEST)).default([]);

const sum = z.strictObject({
  plus: names.describe('Columns that are added, row by row.'),
  minus: names.optional().describe('Columns that are taken off.'),
});

/** What `config/layouts/<name>.yaml` may say. */
export const layoutSchema = z
  .strictObject({
    title: z.string().trim().min(1).describe('What people call this kind of export.'),
    delimiter: z
      .enum([',', ';', '\t', '|', 'auto'])
      .default('auto')
      .describe('auto: whichever the header has most of.'),
    quote: z.enum(['"', 'none']).default('"').describe('none: quotes mean nothing in this format.'),
    encoding: z.string().min(1).default('utf-8').describe('utf-8, utf-16le, windows-1252, …'),
    preamble_lines: z.int().min(0).max(1000).default(0).describe('Lines before the header.'),
    lacks: z
      .array(z.enum(['currency', 'time_zone', 'codes', 'status', 'consent']))
      .default([])
      .describe(
        'What the format does not carry. The source must give currency and time_zone, and say consent: not_recorded.',
      ),
    columns: z
      .partialRecord(z.enum(LAYOUT_FIELDS), names)
      .describe('Spellings of each column, in order of preference.'),
    time_of_day: names.optional().describe('Column with the time, where placed_at is only a date.'),
    required: z.array(z.enum(LAYOUT_FIELDS)).min(1).describe('Columns that a file must have.'),
    signature: z
      .array(names)
      .default([])
      .describe(
        'Sets of columns. A file that has all columns of one set is this kind of export and no other: a file with the signature of another layout is held. Leave it out where no columns are its own.',
      ),
    grouping: z
      .strictObject({
        line_items: z
          .boolean()
          .default(false)
          .describe("Later rows of an order leave the order's columns blank."),
        sum: z.partialRecord(z.enum(['total', 'subtotal', 'refunded']), sum).default({}),
        adds_nothing: cellTests,
      })
      .prefault({}),
    money: z
      .strictObject({
        decimal: z.enum(['.', ',']).default('.'),
        thousands: z.enum([',', '.', ' ', "'"]).nullable().default(null),
        symbols: z
          .boolean()
          .default(false)
          .describe('Whether a currency symbol may stand beside the digits.'),
      })
      .prefault({}),
    times: z
      .array(
        z
          .string()
          .refine(isTimeFormat, { error: 'This is no pattern of times, such as iso or M/D/YYYY H:mm.' }),
      )
      .min(1)
      .default(['iso'])
      .describe('Patterns of times: iso, or YYYY MMM MM M DD D HH H h A mm ss Z.'),
    codes: z
      .strictObject({
        split: z.string().min(1).nullable().default(null).describe('Between several codes in one cell.'),
        pattern: regex
          .nullable()
          .default(null)
          .describe('For cells that hold more than codes: the first group is a code.'),
      })
      .prefault({}),
    links: z
      .strictObject({
        keys: z.array(z.string().min(1)).default([]).describe('"key: value" lines of the notes.'),
        parameters: z
          .array(z.string().min(1))
          .default([])
          .describe('Query parameters of links in the notes.'),
      })
      .prefault({}),
    status: z
      .strictObject({
        words: z.record(z.string(), z.string()).default({}).describe('Translations, to the word used here.'),
        credited: names
          .nullable()
          .default(null)
          .describe('Words that are credited unless a job says otherwise.'),
      })
      .prefault({}),
    exclusions: z
      .array(
        z
          .strictObject({ reason: z.string().regex(/^[a-z][a-z0-9_]{0,40}$/), ...cellTest })
          .refine(hasOneTest, ONE_TEST),
      )
      .default([])
      .describe('Orders that are never posted.'),
    consent: z
      .strictObject({
        columns: z
          .array(z.string().trim().min(1))
          .default([])
          .describe('Spellings of the columns where consent stands. A file that has none of them is held.'),
        given: cellTests.describe('What tells that a customer has said yes; any of the tests suffices.'),
        refused: cellTests.describe('What tells that a customer has said no; any of the tests suffices.'),
        neither: cellTests.describe(
          'Values that say neither yes nor no. A row with any other value is rejected.',
        ),
      })
      .prefault({})
      .describe('Where consent stands, and what it says.'),
    unsubscribed: cellTests.describe(
      'What tells that a customer has unsubscribed or was blacklisted; any of the tests suffices.',
    ),
  })
  .superRefine((layout, context) => {
    const fault = (path: readonly (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    const has = (field: LayoutField): boolean =>
      layout.columns[field] !== undefined ||
      (layout.grouping.sum as Record<string, unknown>)[field] !== undefined;
    for (const [index, field] of layout.required.entries()) {
      if (!has(field)) fault(['required', index], `${field} is required, but columns does not name it.`);
    }
    const { columns, given, refused } = layout.consent;
    const tests = [...given, ...refused, ...layout.unsubscribed];
    if (tests.length > 0 && columns.length === 0)
      fault(['consent'], 'Say under consent.columns in which columns consent stands.');
    if (columns.length > 0 && tests.length === 0)
      fault(['consent'], 'Say what the columns mean: consent.given, consent.refused or unsubscribed.');
    if (layout.required.includes('email') && !layout.required.includes('order_id')) {
      if (columns.length === 0 && !layout.lacks.includes('consent'))
        fault([], 'Name the columns of consent under consent.columns, or list consent under lacks.');
      return;
    }
    if (!layout.required.includes('order_id'))
      fault(['required'], 'order_id must be required, or email for an export of customers.');
    if (!has('total') && !has('subtotal')) fault(['columns'], 'Neither total nor subtotal has a column.');
    if (!has('currency') && !layout.lacks.includes('currency')) {
      fault(['columns'], 'currency has no column: name one, or list currency under lacks.');
    }
    if (
      layout.times.some((format) => format !== 'iso' && !saysZone(format)) &&
      !layout.lacks.includes('time_zone')
    ) {
      fault(['times'], 'A pattern without Z says no offset: list time_zone under lacks.');
    }
  })
  .describe('How influencer-sync reads one kind of export.');

type LayoutFile = z.output<typeof layoutSchema>;
type CellTestFile = LayoutFile['grouping']['adds_nothing'][number];

/** The file's content as the rest of the program knows it. */
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
    lacks: file.lacks,
    columns: file.columns as Layout['columns'],
    required: file.required,
    signature: file.signature,
    timeOfDay: file.time_of_day ?? [],
    grouping: {
      lineItems: grouping.line_items,
      sum: Object.fromEntries(sums) as Record<SummedField, { plus: string[]; minus: string[] }>,
      addsNothing: grouping.adds_nothing.map(toCellTest),
    },
    money: file.money,
    times: { formats: file.times },
    codes: file.codes,
    links: file.links,
    status: file.status,
    exclusions: file.exclusions.map((rule) => ({ reason: rule.reason, ...toCellTest(rule) })),
    consent: {
      columns: file.consent.columns,
      given: file.consent.given.map(toCellTest),
      refused: file.consent.refused.map(toCellTest),
      neither: file.consent.neither.map(toCellTest),
    },
    unsubscribed: file.unsubscribed.map(toCellTest),
  };
}

function toCellTest(test: CellTestFile) {
  return {
    columns: test.columns,
    equals: test.equals ?? null,
    notBlank: test.not_blank ?? false,
    matches: test.matches ?? null,
  };
}

function isRegex(source: string): boolean {
  try {
    new RegExp(source, 'iu');
    return true;
  } catch {
    return false;
  }
}
