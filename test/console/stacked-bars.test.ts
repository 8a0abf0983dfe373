import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { stackedBars } from '../../src/console/markup/stacked-bars.ts';

const css = readFileSync(new URL('../../src/console/assets/console.css', import.meta.url), 'utf8');

/** The colours of a legend, by name. */
function colorsOf(names: readonly (readonly [name: string, color?: number])[]): Record<string, string> {
  const series = names.map(([name, color]) => ({
    name,
    counts: [1],
    ...(color === undefined ? {} : { color }),
  }));
  const text = String(stackedBars(['2026-11-22'], series, { title: 'Orders', href: () => '/orders' }));
  const found = text.matchAll(/<li><svg[^>]*><rect class="c(\d)"[^>]*><\/svg> ([^<]+)<\/li>/g);
  return Object.fromEntries(
    [...found].map(([, color, name = '']) => [
      name,
      new RegExp(`svg \\.c${color} \\{\\s*fill: ([^;]+)`).exec(css)?.[1] ?? '',
    ]),
  );
}

it('a series keeps its colour if another one is absent, and nine series have nine colours', () => {
  const all = colorsOf(Array.from({ length: 9 }, (_, color) => [`outcome${color}`, color]));
  expect(new Set(Object.values(all)).size).toBe(9);
  expect(Object.values(all)).not.toContain('');
  expect(
    colorsOf([
      ['outcome0', 0],
      ['outcome6', 6],
    ]),
  ).toEqual({
    outcome0: all.outcome0,
    outcome6: all.outcome6,
  });
});
