import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isSecretSetting } from '../../src/config/fields.ts';

const SCHEMA = new URL('../../config/pipeline.schema.json', import.meta.url);

it('every setting whose description recommends an environment variable counts as a secret that no command shows', () => {
  const secrets = findSecrets(JSON.parse(readFileSync(SCHEMA, 'utf8')), []);
  expect(secrets).toContain('customers.previous_hash_key');
  expect(secrets.filter((path) => !isSecretSetting(path))).toEqual([]);
});

/**
 * Returns the paths of settings whose description marks them as secret. The index in a list is 0, and names
 * that users choose are `any`.
 */
function findSecrets(schema: unknown, path: readonly string[]): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one) => findSecrets(one, path));
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === 'description' && typeof value === 'string' && /use an environment variable/i.test(value))
      return [path.join('.')];
    if (key === 'properties')
      return Object.entries(value as object).flatMap(([name, one]) => findSecrets(one, [...path, name]));
    if (key === 'additionalProperties') return findSecrets(value, [...path, 'any']);
    return findSecrets(value, key === 'items' ? [...path, '0'] : path);
  });
}
