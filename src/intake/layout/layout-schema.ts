import { z } from 'zod';
import { optional } from '../../config/fields.ts';
import type { LayoutField } from '../../core/layout.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { isTimeZone } from '../../core/time/time-zone.ts';
import { isTimeFormat, TIME_TOKENS } from '../values/parse-time.ts';
import {
  cellTests,
  consentSchema,
  exclusionRule,
  field,
  listLowering,
  listRefusing,
  minus,
  names,
  oneCellTest,
  orderIdPattern,
  refundedOf,
  regex,
  sum,
  times,
} from './layout-parts.ts';

/** The schema of `config/layouts/<name>.yaml`. */
export const layoutSchema = z
  .strictObject({
    extends: z
      .string()
      .regex(/^[\w.-]+$/, { error: 'Give the name of a layout, without .yaml.' })
      .optional()
      .describe(
        'Another layout, on a line of its own. This one only lists what differs: sections are merged key by key, and every other value replaces that of the other layout.',
      ),
    title: z.string().trim().min(1).describe('Name of this kind of export.'),
    delimiter: z
      .enum([',', ';', '\t', '|', 'auto'])
      .default('auto')
      .describe('auto: the one that occurs most in the header.'),
    quote: z.enum(['"', 'none']).default('"').describe('none: quotes have no meaning in this format.'),
    encoding: z.string().min(1).default('utf-8').describe('utf-8, utf-16le, windows-1252, …'),
    preamble_lines: z
      .union([z.int().min(0).max(1000), z.literal('search')], {
        error: 'Give the number of lines, up to 1000, or search.',
      })
      .default(0)
      .describe(
        'Lines before the header. search: the header is the first row, within 100 lines, that has all required columns.',
      ),
    below_header: z
      .array(z.string().trim().min(3))
      .default([])
      .describe(
        'Beginnings of rows between the header and the first order that describe the columns, in their first filled cell, ignoring case. Such rows are no orders.',
      ),
    footer: z
      .array(z.string().trim().min(3))
      .default([])
      .describe(
        'Beginnings of the rows after the last order, in their first or second filled cell, ignoring case. Such rows are no orders.',
      ),
    ends_without_line_break: z
      .boolean()
      .default(false)
      .describe(
        'Files of this format end without a line break. Otherwise a last row without one may be cut, and its order, or a file of customers, clicks or creators, is held.',
      ),
    lacks: z
      .array(z.enum(['currency', 'time_zone', 'codes', 'status', 'consent']))
      .default([])
      .describe(
        'What the format does not have. The source must give currency and time_zone, and consent: not_recorded.',
      ),
    currency: optional(
      z.string().regex(/^[A-Z]{3}$/, { error: 'Give a code of ISO 4217, such as USD.' }),
    ).describe(
      'The currency of all amounts, if the format has only one, for example by its headers: Sale Price ($).',
    ),
    columns: z
      .partialRecord(field, names)
      .describe(
        'Spellings of each column, in order of preference. group and order_id use one column for the whole file, the first that is not blank in every row; others the first that is not blank.',
      ),
    may_be_missing: z
      .record(z.string().trim().min(1), z.string().trim().min(10))
      .default({})
      .describe(
        'Columns that can only lower an amount, exclude an order (status, refunded, cancelled_at, exclusions, minus, adds_nothing, left_after_refund) or take permission away (refused, refused_at, unsubscribed), and that a file may lack nevertheless, with the reason. A file without any other such column is held.',
      ),
    conditional_columns: z
      .array(
        z.strictObject({
          name: z.string().trim().min(1).describe('A name that no column of the export has.'),
          columns: names.describe('Headers, with their spellings. The first cell that is filled counts.'),
          when: oneCellTest,
        }),
      )
      .default([])
      .describe(
        'Columns that the layout adds: cells of other columns in rows that pass the test, and blanks in all other rows. columns, sums, tests and columns that are added after it may use them.',
      ),
    joined_columns: z
      .array(
        z.strictObject({
          name: z.string().trim().min(1).describe('A name that no column of the export has.'),
          columns: names.min(2).describe('The columns to join, each by its header.'),
        }),
      )
      .default([])
      .describe(
        'Columns that the layout adds: ids of several columns, joined by colons, if one alone is not unique, such as receipts that each shop numbers by itself. Blank if one of them is no id.',
      ),
    order_id_pattern: orderIdPattern,
    zero_falls_through: z
      .array(field)
      .default([])
      .describe('Fields in which zero means the same as a blank: the next column counts.'),
    refund_list: optional(z.strictObject({ columns: names, pattern: regex })).describe(
      'For exports that list the refunds of an order in one cell: the columns, and a regular expression (RE2) whose first group is the amount of one. They are added up if no column of refunded is filled.',
    ),
    refunded_of: refundedOf,
    left_after_refund: z
      .array(z.strictObject({ before: names, after: names }))
      .default([])
      .describe(
        'For exports without a column of the refund: an amount, and what is left of it. The difference was refunded, unless the second is blank or zero.',
      ),
    time_of_day: names.optional().describe('Column with the time, if placed_at is only a date.'),
    required: z.array(field).min(1).describe('Columns that a file must have.'),
    required_any: z
      .array(z.array(field).min(2))
      .default([])
      .describe('Lists of columns. A file must have at least one column of each list.'),
    signature: z
      .array(names)
      .default([])
      .describe(
        'Sets of columns. A file that has all columns of one set is this kind of export and no other: a file with the signature of another layout is held. Omit it if the format has no columns of its own.',
      ),
    grouping: z
      .strictObject({
        line_items: z
          .boolean()
          .default(false)
          .describe("In later rows of an order, the order's columns are blank."),
        sum: z.partialRecord(z.enum(['total', 'subtotal', 'refunded']), sum).default({}),
        item: z
          .array(z.string().trim().min(1))
          .default([])
          .describe(
            'Spellings of the column with the id of the item, which no other item has. Rows with the same id are added up once, also over several files.',
          ),
        adds_nothing: cellTests,
      })
      .prefault({}),
    lines: optional(
      z.strictObject({
        plus: names.describe('Columns to add, row by row.'),
        minus,
        sku: names.describe('Column of the SKU.'),
        times,
      }),
    ).describe(
      'What each row says was bought: the SKU, and the amount after discounts (plus × times − minus). Read if the source has order_lines: true.',
    ),
    money: z
      .strictObject({
        decimal: z.enum(['.', ',']).default('.'),
        thousands: optional(z.enum([',', '.', ' ', "'"])),
        symbols: z.boolean().default(true).describe('Whether a currency may be beside the digits.'),
      })
      .prefault({}),
    times: z
      .array(
        z
          .string()
          .refine(isTimeFormat, {
            error: `This is not a pattern of times. Write iso, or these tokens, each once, with year, month and day among them: ${TIME_TOKENS}. An example: M/D/YYYY H:mm.`,
          }),
      )
      .min(1)
      .default(['iso'])
      .describe(`Patterns of times: iso, or these tokens: ${TIME_TOKENS}.`),
    time_zone: optional(
      z
        .string()
        .refine(isTimeZone, {
          error: 'This is not a time zone of the IANA list, such as UTC or Europe/Amsterdam.',
        }),
    ).describe(
      "Zone of times without a zone, if the format defines it, for example UTC. The source's time_zone then does not apply.",
    ),
    time_zone_column: names
      .optional()
      .describe(
        "Column with the zone of the row's times: an IANA name, an offset, or an abbreviation such as PST.",
      ),
    codes: z
      .strictObject({
        split: optional(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])).describe(
          'Separator of several codes in one cell, or a list of possible separators.',
        ),
        pattern: optional(regex).describe(
          'For cells that hold more than codes (RE2): the first group is a code.',
        ),
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
        known: z
          .array(z.string().trim().min(1))
          .default([])
          .describe(
            'Further words of the format. If nearly all orders of a file have other words, the file is held.',
          ),
        credited: optional(names).describe('Words of orders to credit, unless a job says otherwise.'),
      })
      .prefault({}),
    exclusions: z
      .array(exclusionRule)
      .default([])
      .describe(
        'Orders that are never posted, and orders whose word is neither theirs nor one of unless. With the reason draft they are, if the job says drafts: credit; with the reason renewal, unless it says renewals: exclude. With a reason that begins with unknown_, they are held.',
      ),
    consent: consentSchema,
    unsubscribed: cellTests.describe(
      'Tests for customers who unsubscribed, bounced or were blacklisted, which is a no; one must pass.',
    ),
  })
  .superRefine((layout, context) => {
    const fault = (path: readonly (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    const has = (field: LayoutField): boolean =>
      layout.columns[field] !== undefined ||
      (layout.grouping.sum as Record<string, unknown>)[field] !== undefined;
    const mustHave = (name: LayoutField, path: readonly (string | number)[]): void => {
      if (!has(name)) fault(path, `${name} is required, but columns does not name it.`);
    };
    for (const [index, name] of layout.required.entries()) mustHave(name, ['required', index]);
    for (const [index, list] of layout.required_any.entries())
      for (const [place, name] of list.entries()) mustHave(name, ['required_any', index, place]);
    const { columns, given, refused, refused_at: refusedAt } = layout.consent;
    for (const [index, test] of given.entries())
      if (test.none_of !== undefined)
        fault(
          ['consent', 'given', index],
          'Words that the layout does not list would be a yes. List the words that mean yes: equals.',
        );
    const tests = [...given, ...refused, ...layout.unsubscribed];
    if (columns.length > 0 && tests.length === 0 && refusedAt === undefined)
      fault(['consent'], 'Define what the columns mean: consent.given, consent.refused or unsubscribed.');
    const marks: readonly LayoutField[] = ['email', 'clicks', 'platform'];
    const lowering = new Set([...listLowering(layout), ...listRefusing(layout)].map(foldHeader));
    for (const name of Object.keys(layout.may_be_missing))
      if (!lowering.has(foldHeader(name)))
        fault(
          ['may_be_missing', name],
          'No column of this name lowers an amount, excludes an order or takes permission away. Name one of status, refunded, cancelled_at, exclusions, minus, adds_nothing, left_after_refund, refused, refused_at or unsubscribed.',
        );
    const isOfOrders = layout.required.includes('order_id');
    if (!isOfOrders && layout.required.some((name) => marks.includes(name))) return;
    if (!isOfOrders)
      fault(
        ['required'],
        'order_id must be required; or email for an export of customers, clicks for one of clicks, platform for one of creators.',
      );
    if (has('currency') && layout.currency !== null)
      fault(['currency'], 'The format has a column of the currency, so it cannot have only one.');
    if (!has('total') && !has('subtotal')) fault(['columns'], 'Neither total nor subtotal has a column.');
    if (has('status') && layout.status.credited === null && !layout.lacks.includes('status'))
      fault(
        ['status'],
        'status has a column, but status.credited names no status to credit. List those that count. A job can credit every status with include: any. If the column says nothing about the order, list status under lacks.',
      );
    if (!has('currency') && layout.currency === null && !layout.lacks.includes('currency')) {
      fault(
        ['columns'],
        'currency has no column. Name one, or list currency under lacks, or set currency if the format has only one.',
      );
    }
    if (
      layout.times.some((format) => format !== 'iso' && !format.includes('Z')) &&
      !layout.lacks.includes('time_zone') &&
      layout.time_zone === null &&
      layout.time_zone_column === undefined
    ) {
      fault(
        ['times'],
        'A pattern without Z has no offset. List time_zone under lacks, or set time_zone or time_zone_column.',
      );
    }
  })
  .describe('How influencer-sync reads one kind of export.');
