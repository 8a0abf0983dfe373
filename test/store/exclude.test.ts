import { describe, expect, it } from 'vitest';
import { createSkipRule } from '../../src/store/exclude.ts';
import { coversFile } from '../../src/store/list-files.ts';
import { sourceSettings } from './source-settings.ts';

const SOME_BYTES = 10;

describe('the skip rules of a source', () => {
  const byDefault = createSkipRule(sourceSettings('s3://shop/'));

  it.each([
    '_SUCCESS',
    '2026/_SUCCESS',
    'manifest.json',
    '.DS_Store',
    '.trash/a.csv',
    '_committed_123',
    'Thumbs.db',
  ])('skip %s by default', (name) => expect(byDefault(name, SOME_BYTES)).toMatch(/exclude has/));

  it.each(['a.csv', 'orders', '2026/orders-2026.csv.gz', 'my_SUCCESS.csv', 'manifest.json.csv', 'a.b/c'])(
    'do not skip %s',
    (name) => expect(byDefault(name, SOME_BYTES)).toBeNull(),
  );

  it.each(['2026/', 'orders', '2026_$folder$', 'done/ready'])('skip the marker %s if it is empty', (name) => {
    expect(createSkipRule({ exclude: [], startAfter: null })(name, 0)).toBe('it is an empty marker');
    expect(createSkipRule({ exclude: [], startAfter: null })('a.csv', 0)).toBeNull();
  });

  it.each([
    [['*.bak'], 'a/b.csv.bak', true],
    [['*.bak'], 'a/b.csv', false],
    [['archive/**'], 'archive/2025/a.csv', true],
    [['archive/**'], 'other/archive/a.csv', false],
    [['archive'], 'other/archive/a.csv', true],
    [['*.{tmp,part}'], 'a.part', true],
    [['test-??.csv'], 'test-01.csv', true],
    [['test-??.csv'], 'test-001.csv', false],
    [['orders [[]old].csv'], 'orders [old].csv', true],
  ])('apply the patterns %j to %s: %s', (patterns, name, isSkipped) => {
    expect(createSkipRule({ exclude: patterns, startAfter: null })(name, SOME_BYTES) !== null).toBe(
      isSkipped,
    );
  });
});

it.each([
  ['orders-1000.csv', 'orders-0999.csv', true],
  ['orders-1000.csv', 'orders-1000.csv', true],
  ['orders-1000.csv', 'orders-1001.csv', false],
  ['2026/10/00.csv', '2026/09/30.csv', true],
  ['2026/10/00.csv', '2026/10/01.csv', false],
])('start_after: %s decides whether %s is skipped: %s', (startAfter, name, isSkipped) => {
  expect(createSkipRule({ exclude: [], startAfter })(name, SOME_BYTES) !== null).toBe(isSkipped);
});

// Names in the folder a sort as a/…, so after a and a.csv.
it.each([
  ['2026/10/00.csv', '2025', true],
  ['2026/10/00.csv', '2026', false],
  ['2026/10/00.csv', '2026/10', false],
  ['2026/10', '2026/10', false],
  ['a', 'a', false],
  ['a.csv', 'a', false],
])('start_after: %s decides whether the folder %s is skipped: %s', (startAfter, folder, isSkipped) => {
  expect(createSkipRule({ exclude: [], startAfter })(folder, null) !== null).toBe(isSkipped);
});

describe('the range of a source', () => {
  it.each([
    ['s3://shop/orders/', 's3://shop/orders/2026/a.csv', true],
    ['s3://shop/orders/', 's3://shop/orders-old/a.csv', false],
    ['s3://shop/orders', 's3://shop/orders-old/a.csv', false],
    ['s3://shop/orders', 's3://shop/orders/a.csv', true],
    ['s3://shop/orders/*.csv', 's3://shop/orders/a.csv', true],
    ['s3://shop/orders/*.csv', 's3://shop/orders/a.txt', false],
    ['s3://shop/orders/', 's3://other/orders/a.csv', false],
    ['s3://shop/orders/', 's3://shop/orders/_SUCCESS', false],
    ['s3://shop/.hidden.csv', 's3://shop/.hidden.csv', true],
    ['s3://shop/', 'file:///exports/a.csv', false],
    ['/exports', 'file:///exports/2026/a%20b.csv', true],
    ['/exports', 'file:///exports-old/a.csv', false],
    ['/exports/*.csv', 'file:///exports/a.csv', true],
    ['/exports/*.csv', 'file:///exports/a.txt', false],
    ['/exports', 's3://shop/a.csv', false],
  ])('%s includes %s: %s, even if the file does not exist', async (uri, file, isCovered) => {
    expect(await coversFile(sourceSettings(uri), file)).toBe(isCovered);
  });
});
