import { expect, test } from 'vitest';
import { parseText, placesOf } from './parse-text.ts';

test('the lines of a preamble are skipped and counted', async () => {
  const parsed = await parseText('Shop report\nPeriod;May, June\n\na,b\n1,2\n', { preambleLines: 2 });
  expect(parsed.header).toEqual(['a', 'b']);
  expect(placesOf(parsed)).toEqual([[5, 1, '1', '2']]);
});
