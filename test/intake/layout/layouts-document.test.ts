import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LAYOUT_FIELDS } from '../../../src/core/layout.ts';
import { TIME_TOKENS } from '../../../src/intake/values/parse-time.ts';
import { layoutJsonSchema } from '../../../tools/documents/settings.ts';

const DOCUMENT = readFileSync(new URL('../../../docs/layouts.md', import.meta.url), 'utf8');

/**
 * Returns the keys of a JSON schema with their parents: `grouping.sum`. Items of a list, and values under
 * arbitrary names, have the path of their key.
 */
function keysIn(schema: unknown, above: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]): readonly (readonly string[])[] => {
    if (name !== 'properties') return keysIn(inner, above);
    return Object.entries(inner as object).flatMap(([key, value]) => {
      const path = [...above, key];
      return [path, ...keysIn(value, path)];
    });
  });
}

test('docs/layouts.md names every key of a layout, every field, every time token and everything that a format may lack', () => {
  const schema: unknown = JSON.parse(layoutJsonSchema());
  const keys = keysIn(schema);
  expect(keys.length).toBeGreaterThan(60);
  const named = new Set([...DOCUMENT.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name));
  const isNamed = (path: readonly string[]): boolean =>
    named.has(path.at(-1) ?? '') || named.has(path.join('.')) || named.has(`${path.at(-1)}: true`);
  expect(keys.filter((path) => !isNamed(path)).map((path) => path.join('.'))).toEqual([]);
  const lacks = JSON.stringify(schema).match(/"enum":\["currency","time_zone"[^\]]*\]/)?.[0] ?? '';
  const words = [...LAYOUT_FIELDS, ...TIME_TOKENS.split(' '), ...(JSON.parse(`{${lacks}}`).enum as string[])];
  expect(words.filter((word) => !named.has(word))).toEqual([]);
});
