import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { customerHasher, fingerprintOf } from '../../../../src/intake/customers/map/customer-hash.ts';
import { foldAddress, parseAddress } from '../../../../src/intake/customers/map/parse-address.ts';

describe('an e-mail address', () => {
  test.each([
    ['jane@example.com', 'jane@example.com'],
    ['  Jane.Doe@EXAMPLE.Com\t', 'Jane.Doe@example.com'],
    ["'jane@example.com", 'jane@example.com'],
    ["O'Brien+news@ex-ample.co.uk", "O'Brien+news@ex-ample.co.uk"],
    ['jane@münchen.example', 'jane@xn--mnchen-3ya.example'],
    ['jane@MÜNCHEN.example', 'jane@xn--mnchen-3ya.example'],
    ['ｊａｎｅ＠example.com', 'jane@example.com'],
    ['ja\u200bne@exam\u00adple.com\u00a0', 'jane@example.com'],
    ['jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['', ''],
    [' \u00a0 ', ''],
  ])('%j is read as %j', (cell, address) => {
    expect(parseAddress(cell)).toBe(address);
  });

  test.each([
    'jane',
    'jane@',
    '@example.com',
    'jane@example',
    'jane@localhost',
    'jane@example..com',
    'jane@-example.com',
    'jane@1.2.3.4',
    'jane@[1.2.3.4]',
    'ja ne@example.com',
    'jane@exa mple.com',
    'jane.@example.com',
    '.jane@example.com',
    'ja..ne@example.com',
    'jane@@example.com',
    'Jane <jane@example.com>',
    'jane@example.com; joe@example.com',
    'jane@example.com,joe@example.com',
    'jane@example.com?subject=no',
    'jane@example.com/joe',
    'jane@example.com#2',
    'jane@example%2ecom',
    'jane@example.com.',
    `${'x'.repeat(65)}@example.com`,
    `jane@${'x'.repeat(64)}.com`,
    `jane@${'example.'.repeat(40)}com`,
    'N/A',
    '0',
  ])('is not %j', (cell) => {
    expect(parseAddress(cell)).toMatchObject({ code: 'bad_address' });
  });
});

test('a hash depends on brand, key and address, but not on the case of letters', () => {
  const hashOf = customerHasher('a key of thirty-two characters !!', '4819');
  const hash = hashOf(foldAddress('Jane@example.com'));
  expect(hash).toMatch(/^[0-9a-f]{32}$/);
  expect(hashOf(foldAddress('jANE@example.com'))).toBe(hash);
  expect(hashOf('joe@example.com')).not.toBe(hash);
  expect(customerHasher('a key of thirty-two characters !!', '5207')('jane@example.com')).not.toBe(hash);
  expect(customerHasher('another key of thirty characters', '4819')('jane@example.com')).not.toBe(hash);
  expect(fingerprintOf('a')).not.toBe(fingerprintOf('b'));
});

test('a hash is the first half of the HMAC-SHA256 of brand and address, for any key and address', () => {
  const text = (maxLength: number) => fc.string({ minLength: 1, maxLength, size: 'max', unit: 'binary' });
  fc.assert(
    fc.property(text(200), fc.nat(), text(30), text(600), (key, brand, ...addresses) => {
      const hashOf = customerHasher(key, String(brand));
      for (const address of addresses) {
        const hmac = createHmac('sha256', key).update(`${brand}\n${address}`);
        expect(hashOf(address)).toBe(hmac.digest('hex').slice(0, 32));
      }
    }),
    { endOnFailure: true },
  );
});
