import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStorable } from '../../src/core/json/storable-json.ts';

/** Numbers as a service may write them. JavaScript would write most of them differently. */
const NUMBERS = [
  '0',
  '-0',
  '7',
  '-12',
  '12.50',
  '1.0',
  '1e5',
  '1E-7',
  '12345678901234567890',
  '-0.10',
  '9007199254740993',
];

const numeral = fc.constantFrom(...NUMBERS);
const blank = fc.constantFrom('', ' ', '\n  ');
/** JSON text rather than a value, because its notation matters. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    numeral,
    fc.constantFrom('true', 'null', '"handle7.test"', '"1.50"', '"a:1.5"'),
    fc.array(tie('json'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .tuple(blank, fc.array(tie('json'), { maxLength: 3 }))
      .map(
        ([space, items]) =>
          `{${items.map((item, index) => `"k${index}":${space}${item}`).join(`,${space}`)}}`,
      ),
  ),
}));

describe('JSON of the service that Postgres can store', () => {
  it('keeps every number as it is written, wherever it occurs', () => {
    fc.assert(
      fc.property(json, (text) => {
        const written = JSON.stringify(parseStorable(text)?.value);
        expect(written).toBe(text.replace(/\s+(?=[^"]*(?:"[^"]*"[^"]*)*$)/g, ''));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['"a\\u0000b"', 'ab'],
    ['"\\ud800"', '\ufffd'],
    ['"jane@example.com"', 'j***@***'],
    ['"\\u006aane\\u0040example.com"', 'j***@***'],
    ['{"jane@example.com": 1}', { 'j***@***': 1 }],
  ])('%s is cleaned', (text, value) => {
    expect(parseStorable(text)).toEqual({ value });
  });

  it.each(['', '{', 'hello', '1 2', `${'['.repeat(101)}${']'.repeat(101)}`])('is not %j', (text) => {
    expect(parseStorable(text)).toBeNull();
  });
});
