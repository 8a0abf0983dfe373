import { describe, expect, test } from 'vitest';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { parseStorable } from '../../../src/core/json/storable-json.ts';
import { foldCode, foldLink } from '../../../src/core/text/fold.ts';
import { maskAddresses } from '../../../src/core/text/mask-addresses.ts';
import { parseAddress } from '../../../src/intake/customers/map/parse-address.ts';
import { linearPattern } from '../../../src/intake/layout/linear-pattern.ts';
import { loadLayouts } from '../../../src/intake/layout/load-layout.ts';
import { resolveHeader } from '../../../src/intake/layout/resolve-header.ts';
import { cellTest } from '../../../src/intake/layout/test-cell.ts';
import { linkFinder, linkOf } from '../../../src/intake/map/find-links.ts';
import { codeSplitter } from '../../../src/intake/orders/map/split-codes.ts';
import { cleanText, foldWord, isBlank } from '../../../src/intake/values/clean-text.ts';
import { watchDates } from '../../../src/intake/values/date-order.ts';
import { currencyParser } from '../../../src/intake/values/parse-currency.ts';
import { parseId } from '../../../src/intake/values/parse-id.ts';
import { parseMoney, statedCurrency } from '../../../src/intake/values/parse-money.ts';
import { timeParser } from '../../../src/intake/values/parse-time.ts';

/*
 * A record may contain a mebibyte, all of it in one cell that a shopper wrote. Reading a cell must take time
 * linear in its length. Each parser and each pattern of each layout reads every text below in a short form,
 * and then a mebibyte of the text on which it was slowest. That time is compared with a loop over the same
 * text, measured on the same machine at the same time. Times are CPU times of this thread, so that other load
 * on the machine does not count.
 */
const CHARS = 1024 ** 2;
const SHORT_CHARS = 8 * 1024;
/**
 * RE2 in JavaScript takes about 300 steps per character and Unicode normalisation about 50. A backtracking
 * expression takes 500,000.
 */
const MAX_TIMES_A_SCAN = 3_000;

/**
 * Texts that make an expression or a loop backtrack: a long run of one kind, with an end that does not match.
 */
const REPEATED = [
  ...' \t\u00a0\n0aAé"\'.,:;=?&/@-+%€#_<|',
  ...[
    '\r\n',
    '\u200b',
    'a@',
    'a.',
    '?a=',
    'ref=',
    '0,',
    '0.',
    '1 ',
    'code:',
    '%25',
    '%40',
    '&#',
    '\\u0040',
    'EUR',
    'K ',
    '::',
    'a b',
  ],
  ...['http://a/', '%C3', 'Jan ', '2026-', '-1', ',"', 'a\u0301', '1e', '\u0344', '😀', 'ref: a\n'],
];

const ATTACKS: readonly ((chars: number) => string)[] = [
  ...REPEATED.flatMap((piece) => {
    const run = (chars: number) => piece.repeat(Math.ceil(chars / piece.length));
    return [run, (chars: number) => `ref: code:${run(chars)}\u0000x`];
  }),
  // Two kinds of marks in the wrong order, which Unicode normalisation sorts.
  (chars) => `a${'\u0301'.repeat(chars / 2)}${'\u0323'.repeat(chars / 2)}`,
  (chars) => `a${'\u0301\u0323'.repeat(chars / 2)}`,
];

function microsecondsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** Reads each character once. */
function scan(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
  return sum;
}

/**
 * Returns the duration of a scan. Some kernels count thread time in ticks of 4 ms, and one scan may fall
 * between two of them, so it scans until several ticks have passed.
 */
function microsecondsOfScan(text: string): number {
  const before = process.threadCpuUsage();
  let looks = 0;
  for (let us = 0; us < 20_000; looks += 1) {
    scan(text);
    const { user, system } = process.threadCpuUsage(before);
    us = user + system;
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / looks;
}

const short = ATTACKS.map((attack) => ({ attack, text: attack(SHORT_CHARS) }));

function expectLinear(read: (text: string) => unknown): void {
  read('warm');
  const times = short.map(({ attack, text }) => ({ attack, us: microsecondsOf(() => read(text)) }));
  const { attack, us } = times.reduce((one, other) => (other.us > one.us ? other : one));
  const text = attack(CHARS);
  const scanUs = microsecondsOfScan(text);
  const what = JSON.stringify(text.slice(0, 20));
  // Quadratic time would take hours, but it already shows in the short form.
  expect(us, `${SHORT_CHARS} characters: ${what}`).toBeLessThan(scanUs * MAX_TIMES_A_SCAN * 0.1);
  expect(
    microsecondsOf(() => read(text)),
    `${CHARS} characters: ${what}`,
  ).toBeLessThan(scanUs * MAX_TIMES_A_SCAN);
}

const layouts = loadLayouts();
const distinct = <Item>(items: readonly Item[]): readonly Item[] => [
  ...new Map(items.map((item) => [JSON.stringify(item), item])).values(),
];

const FIELD_PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  cleanText,
  foldWord,
  isBlank,
  parseAddress,
  parseId,
  parseCurrency: currencyParser(null),
  foldCode,
  linkOf,
  statedCurrency,
  foldLink,
  maskAddresses,
  parseStorable,
  'parseStorable of a text': (text) => parseStorable(JSON.stringify([text])),
};

describe('the time to read a cell is proportional to its length for', () => {
  test.each(Object.entries(FIELD_PARSERS))('%s', (_name, parse) => expectLinear(parse));

  test.each(distinct(layouts.map(({ money }) => money)))('money in the format %j', (money) =>
    expectLinear((text) => parseMoney(text, money)),
  );

  test.each(distinct(layouts.map(({ times }) => times.formats)))('times in the formats %j', (...formats) =>
    expectLinear(timeParser(formats, 'Europe/Amsterdam')),
  );

  test('dates with an ambiguous order of day and month', () => {
    const [layout] = layouts.filter(({ name }) => name === 'woocommerce-orders');
    const watch = layout === undefined ? null : watchDates(layout, { name: 'shop', dateOrder: null });
    if (watch === null) throw new Error('the layout reads dates in one order only');
    expectLinear((text) => watch.see(text, 2));
    expectLinear((text) => watch.see(`12/${text}`, 2));
  });

  test.each(distinct(layouts.map(({ links }) => links)))('links with the keys %j', (links) =>
    expectLinear(linkFinder(links)),
  );

  test.each(distinct(layouts.map(({ codes }) => codes)))('codes in the format %j', (codes) =>
    expectLinear(codeSplitter(codes)),
  );
});

test.each([
  ['one cell', (text: string) => [text]],
  ['many cells', (text: string) => text.split(/[,;: ]/, 1_000)],
])('a header of %s is matched with layouts in time proportional to its length', (_name, toCells) => {
  const [layout, ...others] = layouts.slice(0, 3);
  if (layout === undefined) throw new Error('there are no layouts');
  expectLinear((text) => {
    try {
      resolveHeader(toCells(text), layout, () => others);
    } catch (error) {
      expect(error).toBeInstanceOf(FileHeld);
    }
  });
});

/** Returns every test of a cell and every expression in a layout, at any depth. */
function patternsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' && (key === 'matches' || key === 'pattern') ? [inner] : patternsIn(inner),
  );
}

const patterns = distinct(layouts.flatMap(patternsIn));

describe('the time to match a pattern of a layout is proportional to the text', () => {
  test('for the layouts, which have patterns', () => expect(patterns.length).toBeGreaterThan(3));

  // The last ones never return in a JavaScript regular expression.
  test.each([...patterns, '(a+)+$', '(\\s|\\s)*x', '(.*,)*y$', '\\s+$'])('%s', (pattern) => {
    const test = cellTest({ columns: [], equals: null, noneOf: null, notBlank: false, matches: pattern });
    expectLinear(test);
    const { matches } = linearPattern(pattern);
    expectLinear((text) => matches(text)[Symbol.iterator]().next());
  });
});
