import { expect, test } from 'vitest';
import type { SourceSettings } from '../../../src/config/source-fields.ts';
import { KnownError } from '../../../src/core/known-error.ts';
import { checkSource } from '../../../src/intake/layout/check-source.ts';
import { layoutHash } from '../../../src/intake/layout/layout-hash.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { EXPECTATIONS } from '../checks/synthetic-shop.ts';

const SOURCE: SourceSettings = {
  name: 'shop',
  uri: '/exports',
  layout: 'woocommerce-analytics',
  orderPlatform: 'woocommerce',
  timeZone: null,
  currency: null,
  encoding: null,
  dateOrder: null,
  decimalMark: null,
  consent: 'recorded',
  customerKey: false,
  ownOrders: false,
  orderLines: false,
  missingColumns: {},
  exclude: ['.*', '_SUCCESS', '_committed_*', '_started_*', 'manifest.json', 'Thumbs.db', 'desktop.ini'],
  lookbackDays: null,
  startAfter: null,
  events: null,
  endpoint: null,
  region: null,
  profile: null,
  age: null,
  followLinks: false,
  forcePathStyle: false,
  expectations: EXPECTATIONS,
  etagIsMd5: true,
  limits: {
    maxBytes: 1,
    maxRatio: 1,
    maxRecordBytes: 1,
    idleTimeoutSeconds: 1,
    maxRejectedShare: 1,
    maxUnreadableShare: 1,
    maxCancelledShare: 1,
    maxZeroRevenueShare: 1,
    maxUnlistedShare: 1,
  },
};
const LAYOUT = loadLayout('woocommerce-analytics');
const ORDERS = { readFor: 'orders' } as const;

test('the error names each setting that the format lacks and the source does not provide', () => {
  const error = (() => {
    try {
      checkSource(LAYOUT, SOURCE);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(KnownError);
  expect((error as KnownError).details).toMatchObject({
    code: 'source_incomplete',
    problems: [
      { help: expect.stringContaining('currency: ') },
      { help: expect.stringContaining('time_zone: ') },
    ],
  });
});

test('a source that provides them passes, and so does any source of a complete format', () => {
  expect(() => checkSource(LAYOUT, { ...SOURCE, timeZone: 'Asia/Dhaka', currency: 'BDT' })).not.toThrow();
  expect(() => checkSource(loadLayout('shopify-orders'), SOURCE)).not.toThrow();
});

test('a list of people who have refused needs no answer about consent, and one that shows only some of them does', () => {
  const customers = { readFor: 'customers', consent: 'by_source' } as const;
  const some = loadLayout('substack');
  expect(() => checkSource(some, SOURCE, customers)).toThrow('do not fit');
  const columns = some.columns.email ?? [];
  const [test] = some.unsubscribed;
  if (test === undefined) throw new Error('the layout has no refusals');
  const refused = [{ ...test, columns, equals: null, notBlank: true }];
  const all = { ...some, consent: { ...some.consent, refused } };
  expect(() => checkSource(all, SOURCE, customers)).not.toThrow();
});

test('the hash changes with every setting that changes the meaning of a file, and with no other', () => {
  const hash = layoutHash(LAYOUT, SOURCE, ORDERS);
  expect(
    layoutHash(
      { ...LAYOUT, title: 'Other', status: { ...LAYOUT.status, credited: null } },
      { ...SOURCE, name: 'other', uri: '/else' },
      ORDERS,
    ),
  ).toBe(hash);
  expect(layoutHash(LAYOUT, { ...SOURCE, encoding: 'utf-8' }, ORDERS)).toBe(hash);
  const others = [
    layoutHash(LAYOUT, { ...SOURCE, timeZone: 'UTC' }, ORDERS),
    layoutHash(LAYOUT, { ...SOURCE, currency: 'EUR' }, ORDERS),
    layoutHash(LAYOUT, { ...SOURCE, encoding: 'windows-1252' }, ORDERS),
    layoutHash({ ...LAYOUT, money: { ...LAYOUT.money, decimal: ',' } }, SOURCE, ORDERS),
    layoutHash({ ...LAYOUT, exclusions: [] }, SOURCE, ORDERS),
  ];
  expect(new Set([hash, ...others]).size).toBe(others.length + 1);
});

test('a source may not give another currency than the only one of the format, nor excuse a column that is not required', () => {
  const gumroad = loadLayout('gumroad-sales');
  const problemsOf = (settings: Partial<SourceSettings>): readonly string[] => {
    try {
      checkSource(gumroad, { ...SOURCE, ...settings });
      return [];
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      return (error.details.problems ?? []).map(({ message }) => message);
    }
  };
  expect(problemsOf({ currency: 'USD', missingColumns: { 'disputed?': 'Nobody disputes' } })).toEqual([]);
  expect(problemsOf({ currency: 'EUR', missingColumns: { Colour: 'Not in our exports' } })).toEqual([
    'The source gives the currency EUR, but all amounts of the layout gumroad-sales are in USD.',
    'missing_columns names "Colour", but the layout gumroad-sales does not require it.',
  ]);
});
