import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldOrderId, foldPlatform, orderKey, similarId } from '../../src/core/text/order-key.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Characters that no display shows, by name where people know them. */
const INVISIBLE = [
  ...[0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2063, 0x2066, 0x2069, 0x206f, 0x3164],
  ...[0xfe0e, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0x1d173, 0xe0001, 0xe0020, 0xe0100],
].map((point) => String.fromCodePoint(point));

const BLANK = [' ', '\t', '\n', '\r', '\u00a0', '\u2003', '\u2009', '\u202f', '\u3000', '\u2028'];
const ID = fc.stringMatching(/^[#A-Za-z0-9][0-9A-Za-z_/.-]{0,20}$/);

describe('the identity of an order', () => {
  test.each([
    ['5001', '5001'],
    ['="5001"', '5001'],
    ["'5001", '5001'],
    [`'="5001"`, '5001'],
    ['"5001"', '5001'],
    ['=5001', '5001'],
    [' 5001 ', '5001'],
    ['５００１', '5001'],
    ['＃Ａ－１', '#A-1'],
    ['50\u200b01', '5001'],
    ['\u202a5001\u202c', '5001'],
    ['order\u00a0\u00a07', 'order 7'],
    ['Cafe\u0301-1', 'Café-1'],
    // What only looks alike is another id.
    ['#5001', '#5001'],
    ['05001', '05001'],
    ['5,001', '5,001'],
    ['ab1', 'ab1'],
    ['AB1', 'AB1'],
    ['', ''],
    [` '"= `, ''],
  ])('%j is the order %j', (written, id) => {
    expect(foldOrderId(written)).toBe(id);
  });

  test('does not depend on invisible characters, wherever they are in an id or a platform', () => {
    const invisible = fc.constantFrom(...INVISIBLE);
    fc.assert(
      fc.property(
        ID,
        fc.array(fc.tuple(fc.nat(20), invisible), { minLength: 1, maxLength: 4 }),
        (id, given) => {
          const characters = [...id];
          for (const [at, character] of given) characters.splice(at, 0, character);
          const spelled = characters.join('');
          expect(orderKey('Shop', spelled)).toBe(orderKey('Shop', id));
          expect(orderKey(spelled, '1')).toBe(orderKey(id, '1'));
        },
      ),
      { numRuns: propertyRuns(500) },
    );
  });

  test('does not depend on what surrounds an id, or on the width of its characters', () => {
    const before = fc.array(fc.constantFrom(...BLANK, "'", '"', '="', ...INVISIBLE), { maxLength: 4 });
    const after = fc.array(fc.constantFrom(...BLANK, '"', ...INVISIBLE), { maxLength: 4 });
    fc.assert(
      fc.property(ID, before, after, fc.boolean(), (id, start, end, isWide) => {
        const wide = id.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0));
        expect(foldOrderId(`${start.join('')}${isWide ? wide : id}${end.join('')}`)).toBe(id);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('is its own identity: folding twice changes nothing', () => {
    const part = fc.constantFrom(
      ...BLANK,
      ...INVISIBLE,
      "'",
      '"',
      '=',
      '#',
      'A',
      'é',
      'e\u0301',
      '１',
      '0',
      '.',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const once = foldOrderId(parts.join(''));
        expect(foldOrderId(once)).toBe(once);
        expect(foldPlatform(foldPlatform(parts.join('')))).toBe(foldPlatform(parts.join('')));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test('has a platform in any case, and an id in one', () => {
    expect(orderKey('HShop', '5001')).toBe(orderKey('hshop', '5001'));
    expect(orderKey('hshop', 'A1')).not.toBe(orderKey('hshop', 'a1'));
    expect(orderKey('a","b', 'c')).not.toBe(orderKey('a', 'b","c'));
  });
});

describe('ids that may be another spelling of one order', () => {
  test.each([
    '#1000',
    '##1000',
    '1,000',
    '1.000',
    "1'000",
    '1\u2019000',
    '01000',
    '001000',
    '#01000',
    '10 00',
    '# 1000',
    '1000.0',
    '1000,00',
    '𝟏𝟎𝟎𝟎',
    '١٠٠٠',
    '१०००',
    '۱۰۰۰',
    '1000,',
    '1000;',
    '1000:',
    '1000.',
    '№1000',
    '№ 1000',
    '[1000]',
    '(1000)',
    '*1000*',
    '[#1000];',
    "10'00",
    '1000#',
    '1000-',
    '1000/',
    '1000\\',
    '+1000',
    '\u22121000',
    '1_000',
    '1·000',
    'No. 1000',
    'Nr.1000',
    'n° 1000',
    'nº1000',
    'Id 1000',
    'Order 1000',
    'Order #01000',
  ])('%j is similar to 1000', (id) => {
    expect(similarId(id)).toBe('1000');
  });

  test.each([
    ['MA-1097', 'ma-1097'],
    ['#MA-1097', 'ma-1097'],
    ['ma-1097', null],
    ['MA\u20111097', 'ma-1097'],
    ['MA\u20131097', 'ma-1097'],
    ['MA\u22121097', 'ma-1097'],
    ['М\u0430-1097', 'ma-1097'],
    ['ΜΑ-1097', 'ma-1097'],
    ['112-1234567-1234567', null],
    ['order-7', null],
    ['NOR-7', 'nor-7'],
    ['1000', null],
    ['0', null],
    ['00', '0'],
    ['10,00', '10'],
    ['1.5', null],
    ['0.', '0'],
    ['[00]', '0'],
    ['٩٨٧', '987'],
    ['#', null],
    ['*', null],
    ['1000,000,1', null],
    ['gid://shopify/Order/5601', '5601'],
    ['gid://shopify/DraftOrder/5601', 'gid://shopify/draftorder/5601'],
    ['', null],
  ])('%j has the loose form %j', (id, loose) => {
    expect(similarId(id)).toBe(loose);
  });

  test('have a loose form that is its own', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^(?:No|Id|Order)?[#0-9A-Za-z .,;:()*+'_·/-]{0,12}$/), (id) => {
        const loose = similarId(id);
        if (loose === null) return;
        expect([null, loose]).toContain(similarId(loose) ?? loose);
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});
