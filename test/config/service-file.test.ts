import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { readServiceFile } from '../../src/config/service-file.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { specifiedService } from '../../src/service/description/schema.ts';
import { serviceJsonSchema, serviceTable, serviceYaml } from '../../tools/documents/settings.ts';
import { runHere } from '../support/run-here.ts';
import { makeTestFolder } from '../support/setup.ts';

const NO_VARIABLES = { env: {}, stored: new Map<string, never>() };

/** Loads a pipeline.yaml with this text, and a service.yaml next to it if there is one. */
function load(pipeline: string, serviceFile?: string) {
  const folder = makeTestFolder();
  const path = join(folder, 'pipeline.yaml');
  writeFileSync(path, `sources: {}\njobs: {}\n${pipeline}`);
  if (serviceFile !== undefined) writeFileSync(join(folder, 'service.yaml'), serviceFile);
  return loadConfig(path, {});
}

function problemsOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof KnownError) return error.details.problems ?? [];
    throw error;
  }
  return [];
}

describe('the description of the service', () => {
  test('is our reading of the specification, unless the configuration says otherwise', () => {
    expect(load('').api.description).toEqual(specifiedService);
  });

  test('is what config/service.yaml states: a copy of it changes nothing', () => {
    const shipped = new URL('../../config/service.yaml', import.meta.url).pathname;
    expect(readServiceFile(shipped, NO_VARIABLES)).toEqual(specifiedService);
    expect(load('', readFileSync(shipped, 'utf8')).api.description).toEqual(specifiedService);
  });

  test('is taken from service.yaml next to pipeline.yaml, and pipeline.yaml wins', () => {
    const { api, webhooks } = load(
      'service: { answers: { doubt: [202] } }\n',
      'service: { answers: { doubt: [203], not_found: [400] }, events: { encoding: base64 } }\n',
    );
    expect(api.description.answers).toMatchObject({ doubt: [202], not_found: [400] });
    expect(webhooks.events.encoding).toBe('base64');
    expect(api.description.authentication).toEqual(specifiedService.authentication);
  });

  test('still reads settings in their old places', () => {
    const { api, webhooks } = load(
      'api: { duplicate_orders: ignored }\nwebhooks: { header_prefix: X-Acme, encoding: base64 }\n',
    );
    expect(api).toMatchObject({ description: { duplicate_orders: 'ignored' } });
    expect(webhooks.events).toMatchObject({
      signature_header: 'X-Acme-Signature',
      timestamp_header: 'X-Acme-Timestamp',
      encoding: 'base64',
    });
  });

  test('is shown under its one name, with the old place in which the file still sets it', async () => {
    const cwd = makeTestFolder();
    writeFileSync(
      join(cwd, 'pipeline.yaml'),
      'api: { duplicate_orders: ignored }\nwebhooks: { header_prefix: X-Acme }\nsources: {}\njobs: {}\n',
    );
    const { stdout } = await runHere(['config', 'show', '--config', 'pipeline.yaml'], { cwd });
    const shown = stdout.split('\n').filter((line) => /duplicate_orders|X-Acme/.test(line));
    expect(shown).toEqual([
      'service.duplicate_orders: ignored  (file: api.duplicate_orders)',
      'service.events.signature_header: X-Acme-Signature  (file: webhooks.header_prefix)',
      'service.events.timestamp_header: X-Acme-Timestamp  (file: webhooks.header_prefix)',
    ]);
  });

  test('refuses a setting that is in its old and its new place', () => {
    const text = 'api: { duplicate_orders: ignored }\nservice: { duplicate_orders: unknown }\n';
    expect(problemsOf(() => load(text))).toMatchObject([
      { message: 'api.duplicate_orders and service.duplicate_orders set the same thing.' },
    ]);
  });

  test.each([
    ['service: { answers: { rate_limited: [200] } }', 'service.answers.rate_limited'],
    ['service: { answers: { refuse: [400] } }', 'refused'],
    ['service: { operations: { search_brands: { paging: { by: pages } } } }', 'paging'],
    ['service: { events: { signed: "{timestamp}" } }', 'service.events.signed'],
    ['service: { operations: { create_note: { yes: {} } } }', 'yes'],
    ['service: { operations: { creat_note: {} } }', 'creat_note'],
    ['services: {}', 'service'],
  ])('refuses %s, and names the place', (text, name) => {
    const problems = problemsOf(() => load('', `${text}\n`));
    expect(JSON.stringify(problems)).toContain(name);
    expect(problems[0]?.where).toMatch(/service\.yaml:1:\d+$/);
  });

  test('has a file, a schema and a table in the documents that are up to date', () => {
    const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    const fix = 'Run `npm run schema` and commit what it writes.';
    expect(read('config/service.yaml'), fix).toBe(serviceYaml());
    expect(read('config/service.schema.json'), fix).toBe(serviceJsonSchema());
    expect(read('docs/service.md'), fix).toContain(serviceTable());
  });
});
