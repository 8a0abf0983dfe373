import { expect, test } from 'vitest';
import { maskAddresses } from '../../src/model/text/mask-addresses.ts';

test.each([
  ['jane@example.com', 'j***@***'],
  ['write to jane.doe+tag@mail.example.com, or bob@x', 'write to j***@***, or b***@***'],
  ['"Jane" <jane@example.com>', '"Jane" <j***@***>'],
  ['follow @jane', 'follow @jane'],
  ['no address', 'no address'],
])('%j is shown as %j', (text, masked) => {
  expect(maskAddresses(text)).toBe(masked);
});
