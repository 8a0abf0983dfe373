import { expect, test } from 'vitest';
import { createFaultPlan, ERROR_FORMS, faultRule, parseFaultFlag } from '../../src/sandbox/faults.ts';
import { explainIssues } from '../../src/service/explain-issues.ts';
import { readErrorText } from '../../src/service/read-error.ts';
import { openClient } from '../service/test-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { REFERRAL, startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

const BODY = JSON.stringify(REFERRAL);

/** Sends one referral with the client, which reports a fault as it is. */
function post(sandbox: TestSandbox, timeoutMs = 5_000) {
  return openClient(sandbox.url, { key: sandbox.key, timeoutMs }).exchange('new_influencer_referral', {
    body: BODY,
  });
}

test.each<[string, Record<string, unknown>, Record<string, unknown>, boolean]>([
  ['reset_before', {}, { kind: 'failure', written: true, reason: 'the connection was reset' }, false],
  ['reset_after', {}, { kind: 'failure', written: true, reason: 'the connection was reset' }, true],
  ['stall_before', {}, { kind: 'failure', written: true, reason: 'no answer in time' }, false],
  ['stall_after', {}, { kind: 'failure', written: true, reason: 'no answer in time' }, true],
  ['stall_body', {}, { kind: 'failure', written: true, reason: 'no complete answer in time' }, true],
  ['cut_body', {}, { kind: 'failure', written: true }, true],
  ['error_before', {}, { kind: 'answer', status: 500, text: expect.stringContaining('"message"') }, false],
  ['error_after', { status: 503 }, { kind: 'answer', status: 503 }, true],
  [
    '429',
    {},
    {
      kind: 'answer',
      status: 429,
      headers: expect.not.objectContaining({ 'retry-after': expect.anything() }),
    },
    false,
  ],
  [
    '429',
    { retry_after: 7 },
    { kind: 'answer', status: 429, headers: expect.objectContaining({ 'retry-after': '7' }) },
    false,
  ],
  ['401', {}, { kind: 'answer', status: 401, text: expect.stringContaining('"message"') }, false],
  [
    'redirect',
    {},
    { kind: 'answer', status: 302, headers: expect.objectContaining({ location: '/elsewhere' }) },
    false,
  ],
  ['redirect', { status: 307 }, { kind: 'answer', status: 307 }, false],
  ['html', {}, { kind: 'answer', status: 200, text: expect.stringContaining('<h1>') }, false],
  ['empty', {}, { kind: 'answer', status: 200, text: '' }, false],
  ['empty', { processed: true }, { kind: 'answer', status: 200, text: '' }, true],
])('the sandbox simulates %s %j as a client observes it', async (kind, settings, seen, isProcessed) => {
  const sandbox = await startTestSandbox();
  expect((await sandbox.setFaults({ kind, ...settings, count: 1 })).status).toBe(200);
  expect(await post(sandbox, 300)).toMatchObject(seen);
  expect(await sandbox.log('referrals')).toHaveLength(isProcessed ? 1 : 0);
  expect(await sandbox.log('requests')).toEqual([
    expect.objectContaining({ fault: kind, processed: isProcessed }),
  ]);
  expect(await post(sandbox)).toMatchObject({ kind: 'answer', status: 200 });
});

test('the sandbox sends a date in Retry-After if configured', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults({ kind: 429, retry_after: 'date:60' });
  const answer = await sandbox.refer();
  const waitMs = Date.parse(answer.headers.get('retry-after') ?? '') - Date.now();
  expect(waitMs).toBeGreaterThan(57_000);
  expect(waitMs).toBeLessThanOrEqual(60_000);
});

test('the sandbox refuses connections for a while and then accepts them again', async () => {
  const sandbox = await startTestSandbox();
  const client = openClient(sandbox.url, { key: sandbox.key });
  await client.exchange('public_hello');
  await sandbox.setFaults({ kind: 'refuse', ms: 300 });
  await waitFor(async () => {
    const exchange = await client.exchange('new_influencer_referral', { body: BODY });
    return (
      exchange.kind === 'failure' && !exchange.written && exchange.reason === 'the connection was refused'
    );
  });
  await waitFor(async () => (await client.exchange('public_hello')).kind === 'answer');
});

test('the sandbox starts refusing connections at a given request', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults({ kind: 'refuse', ms: 100, after: 1, operation: 'new_influencer_referral' });
  expect(await post(sandbox)).toMatchObject({ kind: 'answer', status: 200 });
  expect(await post(sandbox)).toMatchObject({ kind: 'failure', written: true });
  expect(await post(sandbox)).toMatchObject({ kind: 'failure', written: false });
  await waitFor(async () => (await post(sandbox)).kind === 'answer');
});

test('the sandbox delays answers by flag and by rule, combined with another fault', async () => {
  const sandbox = await startTestSandbox({ latencyMs: 60 });
  await sandbox.setFaults({ kind: 'latency', ms: 60 }, { kind: 'error_after' });
  const began = performance.now();
  expect((await sandbox.refer()).status).toBe(500);
  expect(performance.now() - began).toBeGreaterThan(115);
  expect(await sandbox.log('referrals')).toHaveLength(1);
});

test('the sandbox applies a fault to the named operation or path, after and for the given numbers of requests', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults({
    kind: 'error_before',
    path: '/v1/crm/new_influencer_referral',
    after: 1,
    count: 2,
  });
  expect((await sandbox.request('GET', '/v1/account/hello')).status).toBe(200);
  const statuses: number[] = [];
  for (let index = 0; index < 5; index += 1) statuses.push((await sandbox.refer()).status);
  expect(statuses).toEqual([200, 500, 500, 200, 200]);
  expect((await sandbox.request('GET', '/_sandbox/faults', { key: null })).body).toEqual([
    expect.objectContaining({ kind: 'error_before', played: 2 }),
  ]);
});

test.each(Object.keys(ERROR_FORMS))(
  'the sandbox returns an error in the form %s, with the text and status of the rule',
  async (form) => {
    const sandbox = await startTestSandbox();
    await sandbox.setFaults({ kind: 'error_before', status: 422, text: 'Brand not found', form });
    const answer = await sandbox.refer();
    expect([answer.status, readErrorText(answer.text)]).toEqual([422, 'Brand not found']);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    expect([isJson, answer.text.startsWith('{')]).toEqual(
      form === 'not_json' ? [false, false] : [true, true],
    );
    expect(await sandbox.log('referrals')).toEqual([]);
  },
);

test.each([
  ['401', { status: 403, text: 'No API access', form: 'error' }, 403],
  ['429', { text: 'Slow down', form: 'errors', retry_after: 1 }, 429],
  ['error_after', { text: 'Half done', form: 'not_json' }, 500],
])('%s returns the text and status that a rule specifies', async (kind, rule, status) => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults({ kind, ...rule });
  const answer = await sandbox.refer();
  expect([answer.status, readErrorText(answer.text)]).toEqual([status, rule.text]);
});

test('the sandbox removes its faults on DELETE', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.setFaults({ kind: 'error_before' });
  expect((await sandbox.request('DELETE', '/_sandbox/faults', { key: null })).body).toEqual([]);
  expect((await sandbox.refer()).status).toBe(200);
});

test.each<[unknown, RegExp]>([
  [[{ kind: 'earthquake' }], /kind/],
  [{ kind: '429', probability: 2 }, /probability/],
  [{ rules: [{ kind: '429', operation: 'nothing' }] }, /operation/],
  [[{ kind: '429', often: 1 }], /often/],
  [{ kind: '401', form: 'poem' }, /form/],
  ['{', /./],
])('the sandbox rejects the fault %j with a reason', async (body, message) => {
  const sandbox = await startTestSandbox();
  const answer = await sandbox.request('POST', '/_sandbox/faults', { body, key: null });
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
});

test('a fault plan makes the same decisions for the same seed', () => {
  const decide = (seed: string) => {
    const plan = createFaultPlan(seed, 0);
    plan.add([faultRule.parse({ kind: 'reset_after', probability: 0.3 })]);
    return Array.from(
      { length: 200 },
      () => plan.decide({ operation: 'account_hello', path: '/', query: {}, body: undefined }) !== null,
    );
  };
  expect(decide('a')).toEqual(decide('a'));
  expect(decide('a')).not.toEqual(decide('b'));
  const share = decide('a').filter(Boolean).length / 200;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.4);
});

test('a fault flag is parsed, and invalid values are explained', () => {
  const read = (text: string) => {
    const found = parseFaultFlag(text);
    return found.kind === 'rules' ? found.rules[0] : explainIssues(found.issues);
  };
  expect(read('429')).toMatchObject({ kind: '429', probability: 1 });
  expect(
    read('reset_after:probability=0.1, operation=new_influencer_referral,count=3,processed=false'),
  ).toMatchObject({
    kind: 'reset_after',
    probability: 0.1,
    operation: 'new_influencer_referral',
    count: 3,
    processed: false,
  });
  expect(read('429:retry_after=date:5')).toMatchObject({ retry_after: 'date:5' });
  expect(read('')).toContain('kind: ');
  expect(read('what')).toContain('kind: ');
  expect(read('429:often=1')).toBe('often: is not known');
  expect(read('429:operation=nope')).toContain('operation: ');
  expect(read('reset_after:probability=x')).toContain('probability: ');
});
