import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { contract, operationNames, operationOf } from '../../src/service/contract.ts';
import { exampleOf } from '../../src/service/reference/examples.ts';
import { openApiDocument } from '../../src/service/reference/openapi.ts';
import { operationReference } from '../../tools/documents/operation-reference.ts';

const MEND = 'Run `npm run openapi` and commit what it writes.';

type Described = {
  readonly operationId: string;
  readonly security?: unknown;
  readonly 'x-repeatable': boolean;
  readonly responses: Readonly<Record<string, unknown>>;
};
const document = JSON.parse(openApiDocument()) as {
  readonly paths: Record<string, Record<string, Described>>;
};

describe('the documents generated from the contract', () => {
  it('docs/openapi.json matches the contract (npm run openapi writes it)', () => {
    expect(readDocument('openapi.json') === openApiDocument(), MEND).toBe(true);
  });

  it('docs/operations.md matches the contract (npm run openapi writes it)', () => {
    expect(readDocument('operations.md') === operationReference(), MEND).toBe(true);
  });

  it('the OpenAPI document passes the recommended rules of a public linter', async () => {
    expect(await lint(openApiDocument())).toEqual([]);
  });

  it('the linter reports an unresolved reference', async () => {
    const broken = openApiDocument().replace('#/components/responses/Refused', '#/components/responses/Gone');
    expect(await lint(broken)).toContain('no-unresolved-refs');
  });
});

describe('the OpenAPI document', () => {
  it('has every operation under each of its paths, once by its name', () => {
    const described = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = described.map(({ operationId }) => operationId);
    expect(names.toSorted()).toEqual([...operationNames, 'increase_influencer_clicks'].toSorted());
    for (const name of operationNames) {
      const { method, path, repeatable } = operationOf(name);
      expect(document.paths[path]?.[method.toLowerCase()]).toMatchObject({
        operationId: name,
        'x-repeatable': repeatable,
      });
    }
  });

  it('gives IDs, days and country codes the formats of the specification', () => {
    const said = openApiDocument();
    const answersOf = (path: string) =>
      JSON.stringify(
        Object.values(document.paths[path] ?? {}).map((operation) => operation.responses['200']),
      );
    expect(answersOf('/v1/crm/create_deal')).toContain('"deal_id":{"type":"string","minLength":1}');
    expect(answersOf('/v1/crm/create_deal')).toContain('"pattern":"/deal/[^/?#]+$"');
    expect(answersOf('/v1/crm/new_influencer_referral')).toContain(
      '"collab_id":{"type":"string","minLength":1}',
    );
    expect(answersOf('/v1/search/identify_influencers_real_time')).toContain('"format":"uri"');
    expect(answersOf('/v1/account/hello')).toContain('^You are logged in - .+ - .+$');
    expect(said.split('"title": "day as DD-MM-YYYY"')).toHaveLength(2);
    expect(said.split('"pattern": "^[A-Za-z]{2}$"')).toHaveLength(2);
  });

  it('requires the API key for every operation but public_hello', () => {
    const open = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ security }) => security !== undefined);
    expect(open.map(({ operationId }) => operationId)).toEqual(['public_hello']);
  });

  it('marks the parts that the specification does not show, and leaves their schema open', () => {
    const text = JSON.stringify(document.paths['/v1/account/get_webhooks']);
    expect(text).toContain('"x-not-shown":true');
    expect(text).toContain('"additionalProperties":{}');
  });
});

it.each(operationNames)('the example of %s matches the contract', (name) => {
  const { query, body } = exampleOf(name);
  const operation = contract[name];
  expect(operation.query?.safeParse(query ?? {}).success ?? query === undefined).toBe(true);
  expect(operation.body?.safeParse(body).success ?? body === undefined).toBe(true);
});

function readDocument(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** Returns the names of the violated rules. */
async function lint(source: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId }) => ruleId);
}
