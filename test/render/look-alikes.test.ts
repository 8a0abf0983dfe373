import { expect, test } from 'vitest';
import { markLookAlikes } from '../../src/render/text.ts';

test.each([
  ['МIA10', 'МIA10 (М is U+041C)'],
  ['mıa10', 'mıa10 (ı is U+0131)'],
  ['ΜΙΑ10', 'ΜΙΑ10 (Μ is U+039C, Ι is U+0399, Α is U+0391)'],
  ['MIA10', 'MIA10'],
  ['ÉTÉ20', 'ÉTÉ20'],
  ['ミア10', 'ミア10'],
  ['МИРА', 'МИРА'],
])('a reader sees which letters of %j are not what they look like: %j', (code, shown) => {
  expect(markLookAlikes(code)).toBe(shown);
});
