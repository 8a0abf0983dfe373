import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUNDLED_LAYOUTS } from '../../../src/config/layout-folders.ts';
import { KnownError, type KnownErrorDetails } from '../../../src/core/known-error.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { layoutJsonSchema } from '../../../tools/documents/settings.ts';

function folderWith(text: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'layouts-')), 'layouts');
  mkdirSync(folder);
  writeFileSync(join(folder, 'mine.yaml'), text);
  return folder;
}

function problemsOf(work: () => unknown): KnownErrorDetails {
  try {
    work();
  } catch (error) {
    if (error instanceof KnownError) return error.details;
    throw error;
  }
  throw new Error('nothing was wrong');
}

test('all problems of a layout are reported at once, each with its line', () => {
  const folder = folderWith(
    [
      'title: Mine',
      'columns:',
      '  order_id: [id]',
      '  totl: [sum]',
      'required: [order_id, total]',
      "times: ['HH:mm']",
      'codes: { pattern: "(" }',
      'extra: 1',
    ].join('\n'),
  );
  const { code, problems = [] } = problemsOf(() => loadLayout('mine', [folder]));
  expect(code).toBe('layout_invalid');
  const places = problems.map(
    ({ where, message }) => `${where.split('mine.yaml:')[1]?.split(':')[0]} ${message}`,
  );
  expect(places).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^6 times/),
      expect.stringMatching(/^7 codes\.pattern/),
      expect.stringMatching(/extra/),
      expect.stringMatching(/totl/),
    ]),
  );
});

test('contradictory settings are reported with their lines', () => {
  const folder = folderWith(
    ['title: Mine', 'columns:', '  order_id: [id]', 'required: [order_id, total]', 'times: [M/D/YYYY]'].join(
      '\n',
    ),
  );
  const { problems = [] } = problemsOf(() => loadLayout('mine', [folder]));
  expect(problems.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('total is required, but columns does not name it'),
      expect.stringContaining('or list currency under lacks'),
      expect.stringContaining('List time_zone under lacks'),
    ]),
  );
  expect(problems.every(({ where }) => /mine\.yaml:\d+:\d+$/.test(where))).toBe(true);
});

test('invalid YAML is reported with its line', () => {
  const { problems = [] } = problemsOf(() => loadLayout('mine', [folderWith('title: "Mine\ncolumns: [')]));
  expect(problems[0]?.message).toContain('not valid YAML');
});

test('a layout of the deployment takes precedence over a bundled one', () => {
  const folder = folderWith('');
  writeFileSync(
    join(folder, 'generic.yaml'),
    'title: Ours\nlacks: [currency]\ncolumns: { order_id: [nr], total: [sum] }\nrequired: [order_id, total]\n',
  );
  expect(loadLayout('generic', [folder, BUNDLED_LAYOUTS]).title).toBe('Ours');
  expect(loadLayout('shopify-orders', [folder, BUNDLED_LAYOUTS]).title).toBe('Shopify orders export');
});

test('the error for an unknown layout lists the available ones', () => {
  expect(problemsOf(() => loadLayout('shopfy'))).toMatchObject({
    code: 'layout_missing',
    help: expect.stringContaining('shopify-orders'),
  });
});

test('the JSON Schema for editors is up to date', () => {
  expect(readFileSync(join(BUNDLED_LAYOUTS, '../layout.schema.json'), 'utf8')).toBe(layoutJsonSchema());
});

test('nested aliases are reported quickly as an error of the layout, with a remedy', () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const below = level === 0 ? 'lol' : `*l${level - 1}`;
    return `l${level}: &l${level} [${Array.from({ length: 9 }, () => below).join(', ')}]`;
  });
  const folder = folderWith([...levels, 'title: *l8'].join('\n'));
  const { code, problems = [] } = problemsOf(() => loadLayout('mine', [folder]));
  expect(code).toBe('layout_invalid');
  expect(problems[0]).toMatchObject({
    message: expect.stringContaining('Aliases'),
    help: 'Write the values in full instead.',
  });
});

const SHOP = [
  'title: Shop',
  'lacks: [currency]',
  'columns: { order_id: [nr], total: [sum], codes: [code] }',
  'required: [order_id, total]',
  'money: { decimal: ".", thousands: "," }',
  'codes: { split: ";" }',
].join('\n');

test('a layout that extends another states only what differs', () => {
  const folder = folderWith(
    'extends: shop     # commas\nmoney: { decimal: ",", thousands: "." }\ncolumns: { total: [Summe] }',
  );
  writeFileSync(join(folder, 'shop.yaml'), SHOP);
  expect(loadLayout('mine', [folder])).toMatchObject({
    name: 'mine',
    title: 'Shop',
    required: ['order_id', 'total'],
    codes: { split: [';'] },
    columns: { order_id: ['nr'], total: ['Summe'], codes: ['code'] },
    money: { decimal: ',' },
  });
  // A change of the other layout applies at once.
  writeFileSync(join(folder, 'shop.yaml'), SHOP.replace('split: ";"', 'split: "|"'));
  expect(loadLayout('mine', [folder]).codes.split).toEqual(['|']);
  // One of the project may be extended under its own name.
  writeFileSync(join(folder, 'generic.yaml'), 'extends: generic\ntitle: Ours\n');
  const own = loadLayout('generic', [folder, BUNDLED_LAYOUTS]);
  expect(own).toEqual({ ...loadLayout('generic', [BUNDLED_LAYOUTS]), title: 'Ours' });
});

test.each([
  ['a layout that is missing', 'extends: shpo', /mine\.yaml:1:10$/, /no layout "shpo"/],
  ['itself', 'title: Mine\nextends: mine', /mine\.yaml:2:10$/, /no other layout "mine"/],
  ['one that extends it', 'extends: circle', /circle\.yaml:1:10$/, /no other layout "mine"/],
  ['two layouts', 'extends: [shop, mine]', /mine\.yaml:1:10$/, /on a line of its own/],
  ['a layout whose own value is wrong', 'extends: wrong', /wrong\.yaml:6:17$/, /codes\.split/],
  ['a layout, with a wrong value', 'extends: shop\ncodes: { split: 7 }', /mine\.yaml:2:17$/, /codes\.split/],
])('a layout cannot extend %s', (_, text, where, message) => {
  const folder = folderWith(text);
  writeFileSync(join(folder, 'shop.yaml'), SHOP);
  writeFileSync(join(folder, 'wrong.yaml'), SHOP.replace('";"', '7'));
  writeFileSync(join(folder, 'circle.yaml'), 'extends: mine');
  const { code, problems = [] } = problemsOf(() => loadLayout('mine', [folder]));
  expect(code).toBe('layout_invalid');
  expect(problems).toMatchObject([
    { where: expect.stringMatching(where), message: expect.stringMatching(message) },
  ]);
});
