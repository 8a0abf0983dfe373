import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { serviceSchema } from '../../../src/service/description/schema.ts';
import { startTestSandbox, type TestSandbox } from '../../sandbox/start-test-sandbox.ts';
import { readEvents } from '../../support/run-cli.ts';
import { runHere } from '../../support/run-here.ts';
import { makeTestFolder } from '../../support/setup.ts';

/** Runs `doctor --service` with this section `service`. */
async function compare(sandbox: TestSandbox, service: unknown = {}) {
  const config = join(makeTestFolder(), 'pipeline.yaml');
  const api = { url: sandbox.url, key: sandbox.key };
  writeFileSync(config, stringify({ api, sources: {}, jobs: {}, service }));
  const done = await runHere(['doctor', '--service', '--json', '--config', config]);
  const events = readEvents(done);
  const last = (events.at(-1) ?? {}) as { readonly service?: unknown };
  if (last.service === undefined) throw new Error(done.stdout + done.stderr);
  return { code: done.exitCode, proposal: last.service, points: events.slice(0, -1) };
}

const SERVICES = [
  ['refuses a key with a 400', { authentication: { refused: [{ status: 400, text: 'invalid key' }] } }],
  ['refuses a key with a 419', { authentication: { refused: [419] } }],
  ['has all content in an envelope', { answers: { envelope: 'response' } }],
  ['lists under another key', { operations: { search_brands: { list: 'payload.rows' } } }],
  [
    'names the members of a brand otherwise',
    { operations: { search_brands: { items: { id: 'brandId', name: 'title' } } } },
  ],
  [
    'pages by a cursor',
    {
      operations: {
        search_dealflows: {
          list: 'items',
          paging: { by: 'cursor', parameter: 'cursor', path: 'next_cursor' },
        },
      },
    },
  ],
  ['has another search term', { operations: { autocomplete: { request: { q: 'query' } } } }],
  [
    'has the record of a deal elsewhere',
    { operations: { get_deal_details: { answer: { deal_info: 'result.deal' } } } },
  ],
  [
    'does not know a deal with a 400 and a reason in detail',
    { answers: { not_found: [400], reasons: ['detail'] } },
  ],
] as const;

describe('doctor --service', () => {
  test('finds nothing to change at a service that works as specified, and sends nothing but reading calls', async () => {
    const sandbox = await startTestSandbox();
    const { code, proposal, points } = await compare(sandbox);
    expect(proposal).toEqual({});
    expect(code).toBe(0);
    expect(points.map((point) => (point as { status?: string }).status)).toEqual(points.map(() => 'fits'));
    const asked = (await sandbox.log('requests')).map(({ operation }) => operation);
    expect([...new Set(asked)].sort()).toEqual([
      'account_hello',
      'autocomplete',
      'get_deal_details',
      'search_brands',
      'search_dealflows',
    ]);
  });

  test.each(SERVICES)('proposes what describes a service that %s', async (_what, service) => {
    const sandbox = await startTestSandbox({ service: serviceSchema.parse(service) });
    const first = await compare(sandbox);
    expect(first.code).toBe(2);
    expect(first.proposal).not.toEqual({});
    const second = await compare(sandbox, first.proposal);
    expect(second.proposal).toEqual({});
    expect(second.code).toBe(0);
  });
});
