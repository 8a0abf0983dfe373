import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { operationNames, operationOf } from '../../src/service/contract.ts';
import { requestFieldsOf } from '../../src/service/reference/operation-fields.ts';
import { type CliResult, readEvents } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { startSecretStore } from '../support/secret-store.ts';
import { makeTestFolder } from '../support/setup.ts';

const REFERRAL = [
  'new_influencer_referral',
  ...['--deal_id', 'D1', '--order_id', '1001', '--order_revenue', '1249.00', '--currency', 'EUR'],
];
const ACCEPTED = '{"deal_id":"D1","collab_id":"C1","message":"ok","total":1249.00}';

/** Starts a service that records each request and always gives the same answer. */
async function startEcho(status = 200, text = ACCEPTED) {
  const seen: { method: string; url: string; key: unknown; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, key: headers['x-api-key'], body });
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function api(url: string, ...args: readonly string[]): Promise<CliResult> {
  const env = { INFLUENCER_API_URL: url, INFLUENCER_API_KEY: 'the-key' };
  return runHere(['api', ...args], { cwd: makeTestFolder(), env });
}

describe('help of the api command', () => {
  it('lists every operation by its group if no operation is named', async () => {
    const { stdout, exitCode } = await runHere(['api']);
    expect(exitCode).toBe(0);
    for (const name of operationNames) expect(stdout).toContain(` ${name} `);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(readEvents(await runHere(['api', '--json']))).toHaveLength(operationNames.length);
  });

  it('lists each field of an operation, and warns if the operation must not be repeated', async () => {
    const { stdout } = await runHere(['api', 'create-deal', '--help']);
    for (const { name } of requestFieldsOf(operationOf('create_deal')).fields)
      expect(stdout).toContain(`--${name} `);
    expect(stdout).toContain('POST /v1/crm/create_deal');
    expect(stdout).toContain('Must not be repeated');
  });

  it('lists the members of the objects of an operation, with types and formats', async () => {
    const help = async (name: string) => (await runHere(['api', name, '--help'])).stdout;
    const search = await help('get_search');
    expect(search).toMatch(/^ {4}followers +object \{left_number\?: number as text \| number,$/m);
    expect(search).toMatch(/^ {4}geo +list of objects \{id: whole number\}\./m);
    expect(search).toMatch(/^ {4}audience_credibility_class {2}list of low \| normal/m);
    expect(
      Math.max(...(search.split('Options:')[0] ?? '').split('\n').map((line) => line.length)),
    ).toBeLessThanOrEqual(80);
    expect(await help('create_task')).toMatch(/--deadline +required; day as DD-MM-YYYY$/m);
    expect(await help('create_deal')).toMatch(/--country_code +two letters$/m);
    expect(await help('create_webhook')).toMatch(/--webhook_url +required; http or https address$/m);
    expect(await help('identify_influencers')).toContain('list of e-mail addresses');
  });

  it('has no field with the name of one of its own options', () => {
    const taken = ['json', 'live', 'dry_run', 'help', 'body', 'config', 'env_file'];
    const fields = operationNames.flatMap((name) => requestFieldsOf(operationOf(name)).fields);
    expect(fields.filter(({ name }) => taken.includes(name))).toEqual([]);
  });
});

describe('a call', () => {
  it('sends amounts digit by digit as they were typed, and prints the answer unchanged', async () => {
    const { url, seen } = await startEcho();
    const { exitCode, stdout } = await api(url, ...REFERRAL, '--json');
    expect(exitCode).toBe(0);
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/v1/crm/new_influencer_referral',
        key: 'the-key',
        body: '{"deal_id":"D1","order_id":"1001","order_revenue":1249.00,"currency":"EUR"}',
      },
    ]);
    expect(stdout).toBe(
      `{"event":"answer","operation":"new_influencer_referral","status":200,"answer":${ACCEPTED}}\n`,
    );
    expect((await api(url, ...REFERRAL)).stdout).toContain('"total": 1249.00');
  });

  it('sends a file byte for byte, and encodes a query', async () => {
    const { url, seen } = await startEcho();
    const file = join(makeTestFolder(), 'order.json');
    const body = '{ "deal_id": "D1", "order_id": "7", "order_revenue": 0.10 }\n';
    writeFileSync(file, body);
    await api(url, 'new_influencer_referral', '--body', file);
    await api(url, 'locations', '--q', 'São Paulo');
    expect(seen.map((request) => request.body)).toEqual([body, '']);
    expect(seen[1]?.url).toBe('/v1/search/locations?q=S%C3%A3o+Paulo');
  });

  it.each([
    ['a field that is missing', ['create_note', '--deal_id', 'D1'], 'note_description'],
    ['a field that is misspelt', ['locations', '--qq', 'x', '--q', 'y'], 'did you mean --q'],
    ['an amount that is none', [...REFERRAL.slice(0, 5), '--order_revenue', '1,50'], 'order_revenue'],
    ['a word too much', ['create_note', 'D1'], 'There is a value without an option'],
    ['an operation that there is not', ['create_deals'], 'create_deal'],
  ])('is rejected before anything is sent: %s', async (_what, args, words) => {
    const { url, seen } = await startEcho();
    const { exitCode, stderr } = await api(url, ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).toContain('Nothing was sent');
    expect(seen).toEqual([]);
  });

  it('reports an unknown field, and that it is sent unchanged only if it is sent', async () => {
    const { url, seen } = await startEcho();
    const refused = await api(url, 'identify_influencers', '--emails', 'ann@example.com');
    expect(refused.stderr).not.toContain('is sent');
    // First the arguments that do not exist, then those that are missing.
    expect(refused.stderr).toMatch(/--emails.*there is no such field.*--influencer_list/s);
    const sent = await api(
      url,
      'identify_influencers',
      '--influencer_list',
      'ann@example.com',
      '--colour',
      'red',
    );
    expect(sent.stderr).toContain('does not name colour; it is sent unchanged');
    expect(seen.map(({ body }) => body)).toEqual(['{"influencer_list":["ann@example.com"],"colour":"red"}']);
  });

  it('explains where to find a service if none is configured', async () => {
    const { exitCode, stderr } = await runHere(['api', 'account_hello'], { cwd: makeTestFolder() });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('npx influencer-sync sandbox');
  });

  it('reads the API key from a file, and names the variable if the file cannot be read', async () => {
    const { url, seen } = await startEcho();
    const cwd = makeTestFolder();
    writeFileSync(join(cwd, 'key'), 'planted-key\n');
    const env = { INFLUENCER_API_URL: url, INFLUENCER_API_KEY_FILE: join(cwd, 'key') };
    const { exitCode, stderr } = await runHere(['api', 'account_hello'], { cwd, env });
    expect(exitCode, stderr).toBe(0);
    expect(seen[0]?.key).toBe('planted-key');

    const absent = { ...env, INFLUENCER_API_KEY_FILE: join(cwd, 'absent') };
    const refused = await runHere(['api', 'account_hello'], { cwd, env: absent });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/INFLUENCER_API_KEY_FILE names\s.*\s\(ENOENT\)/s);
    expect(seen).toHaveLength(1);
  });

  it('reads the API key from AWS, without the line break at its end', async () => {
    const { url, seen } = await startEcho();
    const store = await startSecretStore({ secrets: { 'shop/api-key': 'planted-key\n' } });
    const env = { ...store.env, INFLUENCER_API_URL: url, INFLUENCER_API_KEY_AWS_SECRET: 'shop/api-key' };
    const { exitCode, stderr } = await runHere(['api', 'account_hello'], { cwd: makeTestFolder(), env });
    expect(exitCode, stderr).toBe(0);
    expect(seen[0]?.key).toBe('planted-key');
  });
});

describe('a dry run', () => {
  it('reports members of objects that the contract does not contain', async () => {
    const { url } = await startEcho();
    const words = [
      '--platform',
      'tiktok',
      '--filter',
      '{"folowers":{"left_number":"1"},"age":{}}',
      '--colour',
      'red',
    ];
    const { stderr, exitCode } = await api(url, 'get_search', ...words, '--dry-run');
    expect(exitCode).toBe(0);
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      'does not name filter.folowers (did you mean followers?), colour; they are sent unchanged.',
    );
  });

  it('prints the request that would be sent, with the API key masked, and sends nothing', async () => {
    const { url, seen } = await startEcho();
    const shown = await api(`${url}/base`, ...REFERRAL, '--dry-run');
    expect(shown).toMatchObject({ exitCode: 0, stderr: 'Nothing was sent.\n' });
    expect(shown.stdout).toBe(`POST ${url}/base/v1/crm/new_influencer_referral
accept: application/json
x-api-key: [key]
content-type: application/json

{"deal_id":"D1","order_id":"1001","order_revenue":1249.00,"currency":"EUR"}
`);
    const query = await api(url, 'locations', '--q', 'São Paulo', '--dry-run', '--json');
    expect(JSON.parse(query.stdout)).toEqual({
      event: 'request',
      operation: 'locations',
      method: 'GET',
      url: `${url}/v1/search/locations?q=S%C3%A3o+Paulo`,
      headers: { accept: 'application/json', 'x-api-key': '[key]' },
      body: null,
    });
    expect((await api(url, ...REFERRAL, '--dry-run', '--json')).stdout).toContain('"order_revenue":1249.00');
    expect(seen).toEqual([]);
  });

  it('prints exactly what a real call sends', async () => {
    const { url, seen } = await startEcho();
    const words = ['create_note', '--deal_id', 'D 1', '--note_description', 'ünï "x"'];
    const { stdout } = await api(url, ...words, '--dry-run', '--json');
    await api(url, ...words);
    const [sent] = seen;
    const shown = JSON.parse(stdout) as Record<'method' | 'url' | 'body', string>;
    expect([shown.method, shown.url, JSON.stringify(shown.body)]).toEqual([
      sent?.method,
      url + String(sent?.url),
      sent?.body,
    ]);
  });

  it('validates the request as a call does, and reports that a live service needs --live', async () => {
    const { url } = await startEcho();
    expect(await api(url, 'create_note', '--deal_id', 'D1', '--dry-run')).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    const live = await api('http://service.invalid', ...REFERRAL, '--dry-run');
    expect(live).toMatchObject({ exitCode: 0 });
    expect(live.stderr).toContain('add --live');
  });
});

describe('an answer that is a list', () => {
  const env = (url: string) => ({ INFLUENCER_API_URL: url, INFLUENCER_API_KEY: 'the-key' });
  const list = async (text: string, ...words: readonly string[]) => {
    const { url } = await startEcho(200, text);
    return runHere(['api', 'search_brands', ...words], { cwd: makeTestFolder(), env: env(url), columns: 60 });
  };

  it('is printed on a terminal as a table of its width, with the other fields of the answer', async () => {
    const brands =
      '[{"id":4819,"name":"Acme\\u001b[31m","rate":1.50},{"id":7,"name":null,"rate":12.00,"more":{"a":1}}]';
    expect((await list(brands)).stdout).toBe(`  id  name    rate  more
4819  Acme?   1.50
   7         12.00  {"a":1}

2 rows.
`);
    const wide = JSON.stringify({
      results: {
        accounts: [
          Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`column_${index}`, 'x'.repeat(20)])),
        ],
        total: 1,
      },
      shown_accounts: ['1'],
    });
    const { stdout } = await list(wide);
    expect(stdout).toMatch(/^results.total: 1\nshown_accounts: \["1"\]\n\ncolumn/);
    expect(stdout).toContain('1 row of results.accounts. Not shown: column_6, column_7, column_8.');
    const lines = stdout.split('\n').filter((line) => !line.startsWith('1 row'));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect((await list('{"items":["a","b"]}')).stdout).toBe('items\na\nb\n\n2 rows of items.\n');
  });

  it('is printed as JSON with --json, in a pipe, or if it is empty or not a plain list', async () => {
    expect((await list('[{"id":1}]', '--json')).stdout).toContain('"answer":[{"id":1}]');
    const { url } = await startEcho(200, '[{"id":1.0}]');
    const piped = await runHere(['api', 'search_brands'], { cwd: makeTestFolder(), env: env(url) });
    expect(piped.stdout).toBe('[\n  {\n    "id": 1.0\n  }\n]\n');
    expect((await list('[]')).stdout).toBe('[]\n');
    expect((await list('{"message":"ok"}')).stdout).toBe('{\n  "message": "ok"\n}\n');
    expect((await list('[{"a":1},2]')).stdout).toContain('"a": 1');
  });
});

describe('a live service', () => {
  // The host name does not exist, so a call that is let through fails before any byte is written.
  const LIVE = 'http://service.invalid';

  it('is not called for an operation that must not be repeated without --live', async () => {
    const refused = await api(LIVE, ...REFERRAL);
    expect(refused).toMatchObject({ exitCode: 2 });
    expect(refused.stderr).toContain('--live');
    const meant = await api(LIVE, ...REFERRAL, '--live');
    expect(meant).toMatchObject({ exitCode: 1 });
    expect(meant.stderr).toContain('You can send it again');
  });

  it('is called for a repeatable operation without --live', async () => {
    expect((await api(LIVE, 'search_brands')).stderr).toContain('host name');
  });
});

describe('a failed call', () => {
  it.each([
    [401, 4, 'Check the API key'],
    [404, 1, 'was not processed'],
    [500, 6, 'may have been processed'],
  ])('with HTTP %i ends with exit code %i and prints what is safe to do', async (status, exitCode, safe) => {
    const { url } = await startEcho(status, '{"message":"no, jane@example.com, whose key is \\u0074he-key"}');
    const ended = await api(url, ...REFERRAL);
    expect(ended).toMatchObject({ exitCode, stdout: '' });
    // It appears exactly once.
    expect(ended.stderr.replace(/\s+/g, ' ').split(safe)).toHaveLength(2);
    expect(ended.stderr).not.toMatch(/jane@|the-key/);
    expect(ended.stderr).toContain('[key]');
  });

  it.each([
    ['account_hello', [], 1],
    ['new_influencer_referral', REFERRAL.slice(1), 6],
  ] as const)('reports an HTML page instead of the answer of %s', async (name, fields, exitCode) => {
    const { url } = await startEcho(200, '<h1>We will be back soon</h1>');
    const ended = await api(url, name, ...fields);
    expect(ended).toMatchObject({ exitCode, stdout: '<h1>We will be back soon</h1>\n' });
    expect(ended.stderr).toContain('the answer is not JSON');
  });

  it('never prints the API key, even if the service returns it', async () => {
    const { url } = await startEcho(200, '{"message":"You are logged in with planted-key-1"}');
    const env = { INFLUENCER_API_URL: url, INFLUENCER_API_KEY: 'planted-key-1' };
    for (const words of [[], ['--json']]) {
      const ended = await runHere(['api', 'account_hello', ...words], { cwd: makeTestFolder(), env });
      expect(ended.stdout).toContain('You are logged in with [key]');
      expect(ended.stdout + ended.stderr).not.toContain('planted');
    }
  });
});
