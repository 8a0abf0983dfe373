import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { drawBar, renderBars } from '../../src/render/render-blocks.ts';
import { hasUnicode } from '../../src/render/terminal.ts';
import { plainTerminal } from '../support/plain-terminal.ts';

const COLUMNS = [{ title: 'influencer' }, { title: 'credited', align: 'right' }] as const;
const ROWS = [
  { cells: ['mira.glow', '100.00 EUR'], group: 'EUR', share: 1 },
  { cells: ['日本の花子', '50.00 EUR'], group: 'EUR', share: 0.5 },
  { cells: ['zoe', '0.00 EUR'], group: 'EUR', share: 0 },
];

function draw(columns: number, unicode = true): readonly string[] {
  const terminal = { ...plainTerminal(columns), hasUnicode: unicode };
  return renderBars({ columns: COLUMNS, rows: ROWS }, { terminal, indent: '' }).split('\n');
}

it('a bar is as long as its share, to an eighth of a cell, and visible for any share above zero', () => {
  const bar = (share: number) => drawBar(share, { width: 10, hasUnicode: true });
  expect([1, 0.5, 0.0625, 0.001, 0, 7].map(bar)).toEqual(['██████████', '█████', '▋', '▏', '', '██████████']);
});

it('bars are aligned, also beside double-width characters', () => {
  expect(draw(60)).toEqual([
    'influencer    credited',
    `mira.glow   100.00 EUR  ${'█'.repeat(30)}`,
    `日本の花子   50.00 EUR  ${'█'.repeat(15)}`,
    'zoe           0.00 EUR',
  ]);
});

it('a terminal without Unicode gets bars of #, and a narrow one gets only the numbers', () => {
  expect(draw(60, false)[2]).toBe(`日本の花子   50.00 EUR  ${'#'.repeat(15)}`);
  expect(draw(26).join('\n')).not.toMatch(/█/);
  for (let columns = 24; columns < 100; columns += 1)
    expect(Math.max(...draw(columns).map((line) => stringWidth(line)))).toBeLessThanOrEqual(columns);
});

it.each([
  ['linux', { LANG: 'en_GB.UTF-8' }, true],
  ['linux', { LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, false],
  ['linux', { LC_CTYPE: 'C.utf8' }, true],
  ['linux', {}, false],
  ['win32', {}, true],
])('on %s with %o a terminal has Unicode: %s', (platform, env, expected) =>
  expect(hasUnicode(platform, env)).toBe(expected),
);
