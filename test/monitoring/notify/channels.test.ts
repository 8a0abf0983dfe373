import { createHmac } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChannelSettings } from '../../../src/config/notify-fields.ts';
import type { Notice } from '../../../src/core/notify/notice.ts';
import { type Attempt, deliverMail, sendToChannel } from '../../../src/monitoring/notify/channels.ts';
import { findFreePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Received, SECRET, startReceiver, webhookTo } from './receivers.ts';
import { startMailServer } from './smtp-receiver.ts';

const NOTICE: Notice = {
  id: 'notice-7',
  problemId: 'problem-3',
  event: 'opened',
  problem: 'doubts',
  title: 'In doubt',
  job: 'nl-orders',
  severity: 'error',
  since: '2026-11-23T02:15:30.000Z',
  amounts: [
    { amount: '1204.50', currency: 'EUR' },
    { amount: '0.1234', currency: 'USD' },
  ],
  summary: 'In doubt at nl-orders: 3 (orders).',
  command: 'npx influencer-sync review',
  link: 'https://ops.example.com/doubts?job=nl-orders',
};

/** Text that a file may contain, with markup of every channel. */
const HOSTILE = 'a <!channel> & <https://evil.example|click> [link](https://evil.example) *b* `c` _d_ # e';

function send(channel: ChannelSettings, notice: Partial<Notice> = {}): Promise<Attempt> {
  const { signal } = new AbortController();
  return sendToChannel(channel, { ...NOTICE, ...notice }, { signal, now: new Date() });
}

/** Sends a notice through a channel to a receiver, and returns the received request. */
async function deliver(
  channelOf: (url: string) => ChannelSettings,
  notice: Partial<Notice> = {},
): Promise<Received> {
  const receiver = await startReceiver();
  expect(await send(channelOf(receiver.url), notice)).toEqual({ kind: 'sent' });
  const [first] = receiver.received;
  if (first === undefined) throw new Error('nothing came');
  return first;
}

describe('a webhook channel', () => {
  it('posts one JSON object with a signature that the public library verifies', async () => {
    const { body, json, headers } = await deliver((url) => webhookTo({ url }));
    expect(json).toEqual({
      event: 'opened',
      problem: 'doubts',
      problem_id: 'problem-3',
      title: 'In doubt',
      job: 'nl-orders',
      severity: 'error',
      since: '2026-11-23T02:15:30.000Z',
      amounts: NOTICE.amounts,
      summary: NOTICE.summary,
      command: NOTICE.command,
      link: NOTICE.link,
    });
    expect(headers['content-type']).toBe('application/json');
    expect(headers['webhook-id']).toBe('notice-7');
    expect(new Webhook(SECRET).verify(body, headers)).toEqual(json);
    expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow();
  });

  it('uses a secret without the whsec_ prefix literally', async () => {
    const { body, headers } = await deliver((url) => ({
      name: 'ops',
      kind: 'webhook',
      url,
      secret: 'plain',
    }));
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const expected = createHmac('sha256', 'plain').update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('follows no redirect and reports a failure without the address', async () => {
    const receiver = await startReceiver();
    const target = await startReceiver();
    receiver.answer(307, { location: `${target.url}/elsewhere` });
    expect(await send(webhookTo(receiver))).toEqual({
      kind: 'failed',
      reason: 'HTTP 307',
      retryAfterMs: null,
    });
    expect(target.received).toEqual([]);
    receiver.answer(429, { 'retry-after': '30' });
    expect(await send(webhookTo(receiver))).toEqual({
      kind: 'failed',
      reason: 'HTTP 429',
      retryAfterMs: 30_000,
    });
    const refused = await send(webhookTo({ url: `http://127.0.0.1:${await findFreePort()}` }));
    expect(refused).toEqual({ kind: 'failed', reason: 'ECONNREFUSED', retryAfterMs: null });
  });
});

describe('a Slack channel', () => {
  const channel = (url: string): ChannelSettings => ({ name: 'chat', kind: 'slack', url });

  it('posts the problem, its start, the amounts, the next command and the link to the console', async () => {
    const { body, json } = await deliver(channel);
    for (const part of [
      'Problem: In doubt (nl-orders)',
      NOTICE.summary,
      '2026-11-23 02:15 UTC',
      NOTICE.command,
    ])
      expect(body).toContain(part);
    expect(body).toContain('1,204.50 EUR, 0.1234 USD');
    expect(body).toContain('<https://ops.example.com/doubts?job=nl-orders|Open the console>');
    expect(json.text).toBe(`Problem: In doubt (nl-orders). ${NOTICE.summary}`);
  });

  it('neutralizes markup in texts and stays within the limits of Slack', async () => {
    const { json } = await deliver(channel, {
      summary: `${HOSTILE} ${'x'.repeat(9_000)}`,
      title: 'T'.repeat(400),
    });
    const { text, blocks } = json as { text: string; blocks: { text: { type: string; text: string } }[] };
    expect(text).not.toMatch(/[<>]/);
    for (const block of blocks.slice(0, 3)) expect(block.text.type).toBe('plain_text');
    expect(blocks[0]?.text.text.length).toBeLessThanOrEqual(150);
    expect(blocks[1]?.text.text.length).toBeLessThanOrEqual(3_000);
  });
});

describe('a Teams channel', () => {
  const channel = (url: string): ChannelSettings => ({ name: 'team', kind: 'teams', url });
  type Card = {
    type: string;
    version: string;
    body: { type: string; text?: string; facts?: { title: string; value: string }[] }[];
    actions: { type: string; url: string }[];
  };
  const cardOf = ({ json }: Received): Card => {
    const { attachments } = json as { attachments: { contentType: string; content: Card }[] };
    expect(attachments).toHaveLength(1);
    expect(attachments[0]?.contentType).toBe('application/vnd.microsoft.card.adaptive');
    return attachments[0]?.content as Card;
  };

  it('posts an Adaptive Card as the only attachment of a message', async () => {
    const received = await deliver(channel);
    expect(received.json.type).toBe('message');
    const card = cardOf(received);
    expect(card).toMatchObject({
      type: 'AdaptiveCard',
      version: '1.4',
      actions: [{ type: 'Action.OpenUrl', url: NOTICE.link }],
    });
    expect(card.body[2]?.facts?.map(({ title }) => title)).toEqual(['Severity', 'Since', 'Amount', 'Next']);
  });

  it('escapes Markdown in texts', async () => {
    const card = cardOf(await deliver(channel, { summary: HOSTILE }));
    const text = card.body[1]?.text ?? '';
    expect(text.replaceAll(/\\[^a-z0-9 ]/gi, '')).not.toMatch(/[*`[\]<>]|^\s*[-+#]/m);
    const list = cardOf(await deliver(channel, { summary: '- one\n2. two\n_three_ of a_job' })).body[1]?.text;
    expect(list).toBe('\\- one\n\n2\\. two\n\n\\_three\\_ of a_job');
  });

  it('leaves a command, an amount and a date as people write them', async () => {
    const amounts = [{ amount: '12.50', currency: 'EUR' }];
    const { body } = cardOf(await deliver(channel, { amounts }));
    const facts = Object.fromEntries(body[2]?.facts?.map(({ title, value }) => [title, value]) ?? []);
    expect(facts).toMatchObject({
      Since: expect.stringMatching(/^\d{4}-\d\d-\d\d /),
      Amount: '12.50 EUR',
      Next: NOTICE.command,
    });
  });
});

describe('a PagerDuty channel', () => {
  const channel = (url: string): ChannelSettings => ({
    name: 'pager',
    kind: 'pagerduty',
    url,
    routingKey: 'R'.repeat(32),
  });

  it('triggers an alert with the fields of the Events API v2, within its limits', async () => {
    const { json } = await deliver(channel, { summary: 'x'.repeat(5_000) });
    expect(json).toMatchObject({
      routing_key: 'R'.repeat(32),
      event_action: 'trigger',
      dedup_key: 'influencer-sync/problem-3',
      payload: {
        severity: 'error',
        timestamp: NOTICE.since,
        component: 'nl-orders',
        class: 'doubts',
        custom_details: { command: NOTICE.command, amounts: NOTICE.amounts },
      },
      links: [{ href: NOTICE.link }],
    });
    const { summary, source } = json.payload as { summary: string; source: string };
    expect(summary.length).toBeLessThanOrEqual(1_024);
    expect(source).not.toBe('');
  });

  it('sends reminders and the resolution with the key of the same alert', async () => {
    const key = { dedup_key: 'influencer-sync/problem-3' };
    expect((await deliver(channel, { event: 'reminded' })).json).toMatchObject({
      event_action: 'trigger',
      ...key,
    });
    const resolved = (await deliver(channel, { event: 'resolved' })).json;
    expect(resolved).toEqual({ routing_key: 'R'.repeat(32), event_action: 'resolve', ...key });
  });

  it('resolves the alert of a test message at once', async () => {
    const receiver = await startReceiver();
    await send(channel(receiver.url), { event: 'test' });
    expect(receiver.received.map(({ json }) => json.event_action)).toEqual(['trigger', 'resolve']);
  });
});

describe('an email channel', () => {
  it.each(['tls', 'none'] as const)(
    'ends a connection (%s) at the time limit, however slowly its server goes on',
    async (encryption) => {
      let isOpen = false;
      // Each line resets a limit on silence, and the greeting never ends.
      const server = createServer((socket) => {
        isOpen = true;
        const timer = setInterval(() => socket.write('220-one moment\r\n'), 20);
        socket.on('error', () => {});
        socket.on('close', () => {
          clearInterval(timer);
          isOpen = false;
        });
      });
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const mail = {
        name: 'mail',
        kind: 'email',
        host: '127.0.0.1',
        user: '',
        password: '',
        from: 'a@b.example',
      } as const;
      const began = performance.now();
      const signal = AbortSignal.timeout(300);
      const channel = { ...mail, port, encryption, to: ['c@d.example'] };
      const attempt = await sendToChannel(channel, NOTICE, { signal, now: new Date() });
      expect(attempt.kind).toBe('failed');
      if (encryption === 'none') expect(attempt).toMatchObject({ reason: 'no answer in time' });
      expect(performance.now() - began).toBeLessThan(5_000);
      await waitFor(() => !isOpen);
    },
  );

  const channel = (port: number, more: object = {}): ChannelSettings => ({
    name: 'mail',
    kind: 'email',
    host: '127.0.0.1',
    port,
    encryption: 'none',
    user: '',
    password: '',
    from: 'sync@shop.example',
    to: ['ops@shop.example', 'on-call@shop.example'],
    ...more,
  });

  it('sends plain text to all recipients and threads the messages about one problem', async () => {
    const server = await startMailServer();
    for (const event of ['opened', 'resolved'] as const)
      expect(await send(channel(server.port), { event })).toEqual({ kind: 'sent' });
    const [first, second] = server.mails;
    expect(first).toMatchObject({
      from: 'sync@shop.example',
      to: ['ops@shop.example', 'on-call@shop.example'],
    });
    expect(first?.source).toMatch(/^Subject: \[influencer-sync\] Problem: In doubt \(nl-orders\)\r$/m);
    for (const part of [NOTICE.summary, 'Amount: 1,204.50 EUR, 0.1234 USD', `Next: ${NOTICE.command}`])
      expect(first?.source).toContain(part);
    expect(first?.source).toContain('Message-ID: <problem-3@influencer-sync>');
    expect(second?.source).toContain('In-Reply-To: <problem-3@influencer-sync>');
    expect(second?.source).toContain('Resolved: In doubt');
  });

  it('prevents header injection by line breaks in texts', async () => {
    const server = await startMailServer();
    await send(channel(server.port), { title: 'x\r\nBcc: thief@evil.example\r\n\r\nbody', job: 'a\nb' });
    const [headers = ''] = server.mails[0]?.source.split('\r\n\r\n') ?? [];
    expect(headers).not.toMatch(/^Bcc:/im);
    expect(server.mails[0]?.to).toEqual(['ops@shop.example', 'on-call@shop.example']);
  });

  it('signs in, and reports a rejected password by its error code only', async () => {
    const server = await startMailServer({ user: 'me' });
    expect(await send(channel(server.port, { user: 'me', password: 'right' }))).toEqual({ kind: 'sent' });
    expect(server.mails[0]?.user).toBe('me');
    expect(await send(channel(server.port, { user: 'me', password: 'guess' }))).toEqual({
      kind: 'failed',
      reason: 'EAUTH 535',
      retryAfterMs: null,
    });
  });

  it('sends nothing if starttls is configured and the server offers no encryption', async () => {
    const server = await startMailServer();
    const attempt = await send(channel(server.port, { encryption: 'starttls' }));
    expect(attempt.kind).toBe('failed');
    expect(server.mails).toEqual([]);
  });

  it('says that a mail was not taken only if the server refused it or was never given it', async () => {
    type End = (socket: Socket) => unknown;
    /** What becomes of a mail if the server ends the connection so, at the beginning or after the whole mail. */
    const deliver = async (when: 'greeting' | 'mail', end: End) => {
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        sockets.add(socket.on('error', () => {}));
        let got = '';
        if (when === 'greeting') return void end(socket);
        socket.write('220 ready\r\n');
        socket.on('data', (chunk) => {
          got += chunk;
          if (got.endsWith('\r\n.\r\n')) end(socket);
          else if (got.endsWith('DATA\r\n')) socket.write('354 go\r\n');
          else if (/^(EHLO|MAIL|RCPT)/.test(String(chunk))) socket.write('250 ok\r\n');
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const envelope = { from: 'a@shop.example', to: 'b@shop.example' };
      const { kind } = await deliverMail(
        channel(port) as Extract<ChannelSettings, { kind: 'email' }>,
        { envelope, raw: 'Subject: x\r\n\r\nx\r\n' },
        AbortSignal.timeout(300),
      );
      for (const socket of sockets) socket.destroy();
      server.close();
      return kind;
    };
    const ends = {
      close: (socket) => socket.end(),
      reset: (socket) => socket.resetAndDestroy(),
      silence: () => {},
      cut: (socket) => socket.end('250'),
      refusal: (socket) => socket.end('550 no\r\n'),
    } satisfies Record<string, End>;
    const of = async (when: 'greeting' | 'mail') =>
      Promise.all(Object.entries(ends).map(async ([name, end]) => [name, await deliver(when, end)]));
    expect(Object.fromEntries(await of('mail'))).toEqual({
      close: 'unclear',
      reset: 'unclear',
      silence: 'unclear',
      cut: 'unclear',
      refusal: 'failed',
    });
    expect(new Set((await of('greeting')).map(([, kind]) => kind))).toEqual(new Set(['failed']));
  });
});
