import { expect, test } from 'vitest';
import {
  type ConsentRule,
  type ConsentStatement,
  consentOf,
  mergeConsent,
  submitsUnknown,
} from '../../../../src/core/customer.ts';
import { FileHeld } from '../../../../src/core/held/file-held.ts';
import { KnownError } from '../../../../src/core/known-error.ts';
import { foldHeader } from '../../../../src/core/text/fold.ts';
import { checkSource } from '../../../../src/intake/layout/check-source.ts';
import { layoutFor } from '../../../../src/intake/layout/layout-for.ts';
import { loadLayouts } from '../../../../src/intake/layout/load-layout.ts';
import { cellTest } from '../../../../src/intake/layout/test-cell.ts';
import type { CellTest, Layout } from '../../../../src/intake/layout/to-layout.ts';
import { sourceSettings } from '../../../store/source-settings.ts';
import { mapCustomerLines } from './map-customer-lines.ts';

/*
 * Whatever is not a known yes is not submitted: for every layout that names customers, every setting of job and
 * source, and every way in which an input of consent may be absent, unknown, contradicted, older or misspelt. The
 * layouts are those in config/layouts, so a new one is covered on the day it is added.
 */

const LAYOUTS = loadLayouts().filter((layout) => layoutFor(layout, 'customers') !== null);
const RULES: readonly ConsentRule[] = ['by_source', 'required', 'not_refused'];
const STATEMENTS = ['recorded', 'not_recorded'] as const;
const ADDRESS = 'ann@x.example';
const AS_OF = new Date('2026-06-01T00:00:00Z');
const A_TIME = '2026-05-01 10:00:00';
const LATER_TIME = '2026-05-20 10:00:00';

type Cells = Readonly<Record<string, string>>;
/** Rows of a file by column. The columns of the first row are its header. */
type Rows = readonly [Cells, ...Cells[]];
/** `isUnknown`: nothing says no, so a setting may permit it. */
type Case = { readonly name: string; readonly rows: Rows; readonly isUnknown: boolean };

/** Words among which each test of the layouts finds one that passes. */
const WORDS = [
  ...[A_TIME, 'yes', 'no', 'true', 'false', '1', '0', 'subscribed', 'unsubscribed', 'active'],
  ...['never_subscribed', 'inactive', 'non-subscribed', 'freely given consent from contact', 'bounced'],
];

function wordFor(cell: CellTest): string {
  const passes = cellTest(cell);
  const word = WORDS.find(passes) ?? cell.equals?.[0];
  if (word === undefined) throw new Error(`add a word to WORDS that passes ${JSON.stringify(cell)}`);
  return word;
}

/** A row of the layout that says nothing about consent, with all the columns that say something. */
function neutralRow(layout: Layout): Cells {
  const { consent, unsubscribed, signature, columns, grouping } = layout;
  const email = columns.email?.[0] ?? '';
  const first = (names: readonly string[]) => names.slice(0, 1);
  const names = [
    ...(signature[0] ?? []),
    ...first(consent.columns),
    ...[...consent.given, ...consent.refused, ...unsubscribed].flatMap((cell) => first(cell.columns)),
    ...first(consent.refusedAt),
    ...first(consent.givenAt),
  ];
  const marks = grouping.lineItems ? [...first(columns.status ?? []), ...first(columns.total ?? [])] : [];
  const cells: Record<string, string> = { [email]: ADDRESS };
  for (const name of names) if (!has(cells, name)) cells[name] = '';
  for (const name of marks) cells[name] = '10';
  return cells;
}

function has(cells: Cells, name: string): boolean {
  return Object.keys(cells).some((other) => foldHeader(other) === foldHeader(name));
}

/** Ways in which a word of consent may say nothing, or nothing that the layout knows. */
const NOTHING_SAID: readonly (readonly [string, string])[] = [
  ['blank', ''],
  ['blanks', '  '],
  ['an invisible character', '\u200b'],
];
const UNLISTED = ['perhaps', 'yess', 'subscribed, bounced', 'はい', '9', '0000-00-00 00:00:00', 'n/a', '-'];

function* casesOf(layout: Layout): Generator<Case> {
  const { consent, unsubscribed } = layout;
  const neutral = neutralRow(layout);
  yield { name: 'says nothing', rows: [neutral], isUnknown: true };
  const noes: readonly { readonly column: string; readonly word: string }[] = [
    ...[...consent.refused, ...unsubscribed].flatMap((cell) =>
      (cell.equals ?? [wordFor(cell)]).map((word) => ({ column: cell.columns[0] ?? '', word })),
    ),
    ...consent.refusedAt.slice(0, 1).flatMap((column) => [A_TIME, 'yes'].map((word) => ({ column, word }))),
  ];
  const given = consent.given.filter(({ columns }) => has(neutral, columns[0] ?? ''));
  for (const cell of given) {
    const column = cell.columns[0] ?? '';
    const yes = { ...neutral, [column]: wordFor(cell) };
    const dated = consent.givenAt.length === 0 ? yes : { ...yes, [consent.givenAt[0] ?? '']: A_TIME };
    for (const [what, text] of NOTHING_SAID)
      yield { name: `${column}: ${what}`, rows: [{ ...neutral, [column]: text }], isUnknown: true };
    for (const word of UNLISTED)
      yield { name: `${column}: ${word}`, rows: [{ ...neutral, [column]: word }], isUnknown: true };
    yield { name: `${column} is missing`, rows: [without(yes, column)], isUnknown: true };
    yield {
      name: `${column} is renamed`,
      rows: [renamed(yes, column, `The ${column} here`)],
      isUnknown: true,
    };
    // An unlisted word in a declared column may mean no, also beside a yes in another row.
    if (consent.columns.some((name) => foldHeader(name) === foldHeader(column)))
      for (const word of ['perhaps', 'yess'])
        for (const rows of inBothOrders(yes, { ...neutral, [column]: word }))
          yield { name: `${column}: ${word} in another row`, rows, isUnknown: false };
    for (const { column: noColumn, word } of noes) {
      const no = { ...neutral, [noColumn]: word };
      if (foldHeader(noColumn) !== foldHeader(column))
        yield {
          name: `${column}, and ${noColumn}: ${word}`,
          rows: [{ ...yes, [noColumn]: word }],
          isUnknown: false,
        };
      for (const rows of inBothOrders(dated, no))
        yield { name: `${column}, and ${noColumn}: ${word} in another row`, rows, isUnknown: false };
      if (consent.refusedAt.length > 0 && has(neutral, consent.refusedAt[0] ?? ''))
        for (const rows of inBothOrders(dated, { ...no, [consent.refusedAt[0] ?? '']: LATER_TIME }))
          yield { name: `${column}, and later ${noColumn}: ${word}`, rows, isUnknown: false };
    }
  }
  for (const { column, word } of noes) {
    yield { name: `${column}: ${word}`, rows: [{ ...neutral, [column]: word }], isUnknown: false };
    const [firstGiven] = given;
    const yes = firstGiven === undefined ? {} : { [firstGiven.columns[0] ?? '']: wordFor(firstGiven) };
    const isOnly = firstGiven !== undefined && foldHeader(firstGiven.columns[0] ?? '') === foldHeader(column);
    for (const spelling of spellingsOf(column)) {
      const row = renamed({ ...neutral, ...(isOnly ? {} : yes), [column]: word }, column, spelling);
      yield { name: `${column} is spelt ${spelling}: ${word}`, rows: [row], isUnknown: isOnly };
    }
  }
}

/** Spellings that people and tools make of a header. */
function spellingsOf(column: string): readonly string[] {
  const words = column.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replace(/[_-]+/g, ' ');
  const spellings = [words, words.replace(/ /g, '_'), words.replace(/ /g, '-'), `${words} `];
  return [...new Set(spellings)].filter((name) => foldHeader(name) !== foldHeader(column));
}

function without(cells: Cells, column: string): Cells {
  return Object.fromEntries(
    Object.entries(cells).filter(([name]) => foldHeader(name) !== foldHeader(column)),
  );
}

function renamed(cells: Cells, column: string, to: string): Cells {
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => [foldHeader(name) === foldHeader(column) ? to : name, cell]),
  );
}

function inBothOrders(one: Cells, other: Cells): readonly Rows[] {
  return [
    [one, other],
    [other, one],
  ];
}

/** True if a run would submit the person of these rows. */
async function isSubmitted(
  layout: Layout,
  rows: Rows,
  { rule, consent }: { readonly rule: ConsentRule; readonly consent: (typeof STATEMENTS)[number] },
): Promise<boolean> {
  const header = Object.keys(rows[0]);
  const quote = layout.quote ?? '';
  const delimiter = layout.delimiter === 'auto' ? ',' : layout.delimiter;
  const line = (cells: readonly string[]) => cells.map((cell) => `${quote}${cell}${quote}`).join(delimiter);
  const lines = [line(header), ...rows.map((row) => line(header.map((name) => row[name] ?? '')))];
  const source = { ...sourceSettings('/exports'), consent, currency: 'EUR', timeZone: 'UTC' };
  try {
    checkSource(layout, source, { readFor: 'customers', consent: rule });
    const { customers, doubtful } = await mapCustomerLines(layout.name, lines, {
      source,
      consent: rule,
      asOf: AS_OF,
    });
    if (customers.length === 0) return false;
    const statements: readonly ConsentStatement[] = [...customers, ...doubtful];
    return consentOf(statements.reduce(mergeConsent)) !== 'no';
  } catch (error) {
    if (error instanceof FileHeld || error instanceof KnownError) return false;
    throw error;
  }
}

const SETTINGS = RULES.flatMap((rule) => STATEMENTS.map((consent) => ({ rule, consent })));
let combinations = 0;

test.each(LAYOUTS.map((layout) => [layout.name, layout] as const))(
  '%s: nobody is submitted whose consent is absent, unknown, contradicted, older or misspelt',
  async (_, layout) => {
    const failed: string[] = [];
    for (const settings of SETTINGS)
      for (const { name, rows, isUnknown } of casesOf(layout)) {
        if (isUnknown && submitsUnknown(settings.rule, settings)) continue;
        combinations += 1;
        if (await isSubmitted(layout, rows, settings)) failed.push(`${JSON.stringify(settings)} ${name}`);
      }
    expect(failed).toEqual([]);
  },
);

test('a known yes is submitted under every setting, and an unknown only under those that permit it', async () => {
  const submitted = { yes: 0, unknown: 0 };
  for (const layout of LAYOUTS)
    for (const settings of SETTINGS) {
      const label = `${layout.name} ${JSON.stringify(settings)}`;
      const neutral = neutralRow(layout);
      for (const cell of layout.consent.given) {
        const yes = { ...neutral, [cell.columns[0] ?? '']: wordFor(cell) };
        // A job that requires consent refuses a source that says that it has none.
        const isAllowed = settings.rule !== 'required' || settings.consent === 'recorded';
        expect(await isSubmitted(layout, [yes], settings), label).toBe(isAllowed);
        submitted.yes += Number(isAllowed);
      }
      const isUnknownSubmitted = await isSubmitted(layout, [neutral], settings);
      if (isUnknownSubmitted) expect(submitsUnknown(settings.rule, settings), label).toBe(true);
      submitted.unknown += Number(isUnknownSubmitted);
    }
  // Both are reached, so the tests above do not pass because every file is held.
  expect(submitted.yes).toBeGreaterThan(30);
  expect(submitted.unknown).toBeGreaterThan(LAYOUTS.length);
});

test('the combinations are many, and every layout of customers has some', () => {
  process.stdout.write(`  ${combinations} combinations of ${LAYOUTS.length} layouts\n`);
  expect(combinations).toBeGreaterThan(2_000);
});
