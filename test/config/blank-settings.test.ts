import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { sourceSchema } from '../../src/config/source-fields.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { pipelineJsonSchema } from '../../tools/documents/settings.ts';

/** What each kind of job must have. */
const NEEDED: Readonly<Record<string, object>> = {
  'attribute-orders': { source: 'shop', brand_id: 4819 },
  'identify-customers': { source: 'shop', brand_id: 4819 },
  'post-clicks': { source: 'shop', brand_id: 4819 },
  'import-deals': { source: 'shop', brand_id: 4819 },
  'delete-data': { source: 'shop' },
  'mirror-account': {},
  'submit-outreach': { brand_id: 4819, outreach_id: 'O1', platform: 'instagram', credits: 1 },
  'tell-corrections': { of: 'orders', as: 'note', from: '2026-01-01' },
};
/** Lists that mean something if they are empty: no name is excluded. */
const MAY_BE_EMPTY = ['exclude'];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'blank-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function isRefused(source: object, job: object): boolean {
  const path = join(folder, 'pipeline.yaml');
  const shop = { uri: './exports/', layout: 'shopify-orders', order_platform: 'shopify', ...source };
  writeFileSync(path, stringify({ sources: { shop }, jobs: { job } }));
  try {
    loadConfig(path, {});
    return false;
  } catch (error) {
    if (error instanceof KnownError) return true;
    throw error;
  }
}

const ORDERS = { kind: 'attribute-orders', ...NEEDED['attribute-orders'] };
const ofSource = Object.keys(sourceSchema.shape);

test.each(ofSource)('sources.*.%s is refused if it is blank or an empty list', (key) => {
  for (const value of ['', ' ', '\u00a0', [], ['']])
    if (!(Array.isArray(value) && value.length === 0 && MAY_BE_EMPTY.includes(key)))
      expect(isRefused({ [key]: value }, ORDERS), `${key}: ${JSON.stringify(value)}`).toBe(true);
});

const fieldsOf = (kind: string): readonly string[] => {
  const { properties } = JSON.parse(pipelineJsonSchema(jobKinds)) as {
    properties: {
      jobs: { additionalProperties: { oneOf?: readonly JobSchema[]; anyOf?: readonly JobSchema[] } };
    };
  };
  const { oneOf, anyOf } = properties.jobs.additionalProperties;
  const own = [...(oneOf ?? anyOf ?? [])].find((one) => one.properties.kind?.const === kind);
  return Object.keys(own?.properties ?? {}).filter((key) => key !== 'kind');
};
type JobSchema = { readonly properties: Readonly<Record<string, { readonly const?: unknown }>> };

test.each(jobKinds.flatMap(({ kind }) => fieldsOf(kind).map((key) => [kind, key] as const)))(
  'the setting of %s called %s is refused if it is blank or an empty list',
  (kind, key) => {
    for (const value of ['', ' ', [], ['']])
      expect(isRefused({}, { kind, ...NEEDED[kind], [key]: value }), JSON.stringify(value)).toBe(true);
  },
);

test('every kind of job is tried with its settings', () => {
  expect(Object.keys(NEEDED).toSorted()).toEqual(jobKinds.map(({ kind }) => kind).toSorted());
  for (const { kind } of jobKinds) expect(fieldsOf(kind).length, kind).toBeGreaterThan(3);
});
