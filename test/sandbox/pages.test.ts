import { expect, test } from 'vitest';
import { webhookEvents } from '../../src/service/contract/webhook-events.ts';
import { webhookTypes } from '../../src/service/contract/webhook-types.ts';
import { operationNames, operationOf } from '../../src/service/contract.ts';
import { openApiDocument } from '../../src/service/reference/openapi.ts';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

test('the sandbox serves the OpenAPI document and a page of it without external resources', async () => {
  const sandbox = await startTestSandbox();
  const document = await sandbox.request('GET', '/openapi.json', { key: null });
  expect([document.headers.get('content-type'), document.text]).toEqual([
    expect.stringContaining('application/json'),
    openApiDocument(),
  ]);
  const docs = await sandbox.request('GET', '/docs', { key: null });
  for (const name of operationNames) {
    const { method, path } = operationOf(name);
    expect(docs.text).toContain(`<code>${method} ${path}</code>`);
  }
  for (const kind of webhookTypes) expect(docs.text).toContain(`<code>${kind}</code>`);
  expect(docs.text).toMatch(/<code>filter\.geo\[\]\.id<\/code><\/td><td>[^<]+<\/td><td>yes</);
  expect(docs.text).not.toMatch(/<script|https?:\/\/[^<]*\.(js|css)|src=/);
  expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('the sandbox shows deals, deliveries and mail, escaped and without email addresses', async () => {
  const sandbox = await startTestSandbox({ allowPrivateWebhooks: true });
  const { url } = await startReceiver();
  await sandbox.request('POST', '/v1/account/create_webhook', {
    body: { webhook_url: url, webhook_type: 'new_email_sent' },
  });
  await sandbox.request('POST', '/v1/crm/create_deal', {
    body: {
      influencer_handle: '<script>alert(1)</script>',
      platform: 'tiktok',
      brand_id: 4819,
      dealflow_id: 'D_FSSI4P',
    },
  });
  await sandbox.request('POST', '/_sandbox/trigger/new_email_sent', {
    body: { subject: '<b>planted</b> jane@planted.example' },
    key: null,
  });
  const { text } = await sandbox.request('GET', '/', { key: null });
  expect(text).toContain('&lt;script&gt;alert(1)');
  expect(text).toContain('&lt;b&gt;planted&lt;/b&gt; j***@***');
  expect(text).not.toMatch(/<script|<b>|@planted/);
  for (const word of ['ETUNQ6ZTW1', 'MIRA10', 'new_email_sent', url]) expect(text).toContain(word);
});

test('the sandbox shows events and mail without a registered webhook until it is reset', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.refer();
  await sandbox.request('POST', '/_sandbox/trigger/new_email_sent', {
    body: { subject: 'Hello Mira' },
    key: null,
  });
  const { text } = await sandbox.request('GET', '/', { key: null });
  for (const word of ['new_influencer_order', 'new_email_sent', 'Hello Mira', 'to the influencer'])
    expect(text).toContain(word);
  await sandbox.request('POST', '/_sandbox/reset', { key: null });
  expect((await sandbox.request('GET', '/', { key: null })).text).not.toMatch(
    /new_influencer_order|Hello Mira/,
  );
});

test('every kind of event matches its schema in the OpenAPI document', async () => {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox({ allowPrivateWebhooks: true });
  for (const kind of webhookTypes) {
    await sandbox.request('POST', '/v1/account/create_webhook', {
      body: { webhook_url: `${receiver.url}/${kind}`, webhook_type: kind },
    });
    await sandbox.request('POST', `/_sandbox/trigger/${kind}`, { body: {}, key: null });
  }
  await waitFor(() => receiver.events.length === webhookTypes.length);
  for (const { path, body } of receiver.events) {
    const kind = webhookTypes.find((one) => `/${one}` === path);
    expect(webhookEvents[kind ?? 'product_sent'].safeParse(body).error).toBeUndefined();
  }
});
