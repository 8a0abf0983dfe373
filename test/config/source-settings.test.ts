import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { SETTINGS_OF_SOME_KINDS, type SourceSetting, sourceSchema } from '../../src/config/source-fields.ts';
import { FILE_CHECK_NAMES, type FileCheckName } from '../../src/core/checks/expectations.ts';
import { KnownError, type Problem } from '../../src/core/known-error.ts';

/** Settings with which every kind of job lists, opens and decodes files. */
const OF_EVERY_KIND = [
  ...['uri', 'layout', 'encoding', 'exclude', 'start_after', 'endpoint', 'region', 'profile'],
  ...['force_path_style', 'follow_links', 'etag_is_md5', 'limits.max_bytes', 'limits.max_ratio'],
  ...['limits.max_record_bytes', 'limits.idle_timeout_seconds'],
];

/** A value of each setting that is not its default. */
const OTHER: Readonly<Record<SourceSetting, unknown>> = {
  order_platform: 'shopify',
  time_zone: 'Europe/Amsterdam',
  currency: 'EUR',
  date_order: 'DMY',
  age: 'modified',
  'age: column': 'column',
  decimal_mark: ',',
  missing_columns: { 'Refunded Amount': 'The shop refunds nothing.' },
  consent: 'not_recorded',
  customer_key: true,
  own_orders: true,
  order_lines: true,
  lookback_days: 3,
  events: { queue: 'https://sqs.eu-west-1.amazonaws.com/1/exports' },
  'limits.max_rejected_share': 0.5,
  'limits.max_unreadable_share': 0.5,
  'limits.max_cancelled_share': 0.4,
  'limits.max_zero_revenue_share': 0.5,
  'limits.max_unlisted_share': 0.5,
  'expect.time_zone': 'Europe/Berlin',
  'expect.floor': 3,
  'expect.freshness': { by: '06:00' },
  ...everyCheck('hold'),
  'expect.header': { gone: 'hold' },
};

function everyCheck(action: 'hold') {
  return Object.fromEntries(FILE_CHECK_NAMES.map((name) => [`expect.${name}`, action])) as Record<
    `expect.${FileCheckName}`,
    'hold'
  >;
}

/** The fields that each kind needs, and a layout that it reads. */
const JOBS: Readonly<Record<string, { readonly layout: string; readonly fields: object }>> = {
  'attribute-orders': { layout: 'shopify-orders', fields: { brand_id: 4819 } },
  'identify-customers': { layout: 'shopify-customers', fields: { brand_id: 4819 } },
  'post-clicks': { layout: 'generic-clicks', fields: { brand_id: 4819 } },
  'import-deals': { layout: 'generic-creators', fields: { brand_id: 4819 } },
  'delete-data': { layout: 'generic-customers', fields: {} },
};
const WITHOUT_SOURCES = ['mirror-account', 'submit-outreach', 'tell-corrections'];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'source-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The problems of a configuration whose source has one setting, and is read by these kinds of jobs. */
function problemsOf(setting: SourceSetting | null, kinds: readonly string[]): readonly Problem[] {
  const [section = '', key] = (setting ?? '').replace(/: .*/, '').split('.');
  const value = setting === null ? null : OTHER[setting];
  const shop = {
    uri: 's3://acme/orders/dt={date}/',
    layout: JOBS[kinds[0] ?? '']?.layout,
    ...(kinds.includes('attribute-orders') ? { order_platform: 'shopify' } : {}),
    ...(setting === null ? {} : key === undefined ? { [section]: value } : { [section]: { [key]: value } }),
  };
  const jobs = Object.fromEntries(
    kinds.map((kind) => [kind, { kind, source: 'shop', ...JOBS[kind]?.fields }]),
  );
  const path = join(folder, 'pipeline.yaml');
  const customers = { hash_key: '0123456789abcdef0123456789abcdef' };
  writeFileSync(path, stringify({ sources: { shop }, jobs, customers }));
  try {
    loadConfig(path, {});
    return [];
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    return error.details.problems ?? [];
  }
}

test('each setting of a source is read by every kind of job, or declared by those that read it', () => {
  const leaves = (schema: unknown, path: readonly string[] = []): readonly string[] => {
    const inner =
      schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault ? schema.unwrap() : schema;
    const isSplit = path.length === 0 || path[0] === 'limits' || path[0] === 'expect';
    return inner instanceof z.ZodObject && isSplit && path.length < 2
      ? Object.entries(inner.shape).flatMap(([key, part]) => leaves(part, [...path, key]))
      : [path.join('.')];
  };
  const settings = SETTINGS_OF_SOME_KINDS.filter((setting) => !setting.includes(': '));
  expect([...OF_EVERY_KIND, ...settings].toSorted(), 'a setting has no entry').toEqual(
    leaves(sourceSchema).toSorted(),
  );
  for (const setting of SETTINGS_OF_SOME_KINDS)
    expect(
      jobKinds.some(({ readsOfSource }) => readsOfSource.includes(setting)),
      `no kind reads ${setting}`,
    ).toBe(true);
  expect([...Object.keys(JOBS), ...WITHOUT_SOURCES].toSorted(), 'a kind has no entry').toEqual(
    jobKinds.map(({ kind }) => kind).toSorted(),
  );
});

describe.each(Object.keys(JOBS))('a source that only %s reads', (kind) => {
  test('has no problem without further settings', () => {
    expect(problemsOf(null, [kind])).toEqual([]);
  });

  test.each(SETTINGS_OF_SOME_KINDS)(
    'uses %s, or the error says that it has no effect and where it is',
    (setting) => {
      const isRead = jobKinds.find((one) => one.kind === kind)?.readsOfSource.includes(setting);
      expect(problemsOf(setting, [kind])).toEqual(
        isRead
          ? []
          : [
              {
                where: expect.stringMatching(/pipeline\.yaml:\d+:\d+/),
                message: expect.stringContaining(
                  `sources.shop.${setting} has no effect: ${kind} (${kind}), which reads this source, does not use it.`,
                ),
                help: expect.stringMatching(/^Remove it\. Jobs of the kind [a-z-]+/),
              },
            ],
      );
    },
  );
});

test('a setting is used if one of several jobs that read the source uses it', () => {
  expect(problemsOf('order_lines', ['attribute-orders', 'identify-customers'])).toEqual([]);
  expect(problemsOf('limits.max_unreadable_share', ['attribute-orders', 'identify-customers'])).toEqual([]);
  expect(problemsOf('limits.max_unreadable_share', ['attribute-orders'])).toHaveLength(1);
});
