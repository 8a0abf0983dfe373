import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { startTestConsole, textOf } from '../../console/console-server.ts';
import { readEvents } from '../../support/run-cli.ts';
import { openDrill } from './drill.ts';
import { SECRET } from './receivers.ts';

/** Two channels that post to the same receiver. */
const TWO = `notify:
  channels:
    ops: {kind: webhook, url: "\${NOTICE_URL}", secret: "\${NOTICE_SECRET}"}
    chat: {kind: slack, url: "\${NOTICE_URL}/chat"}
`;

describe('notify test', () => {
  it('sends a test message to every channel and lists the results, without a database', async () => {
    const { shop, receiver } = await openDrill({ notify: TWO });
    shop.env.DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none';
    expect((await shop.cli('notify', 'test', '--dry-run')).stdout).toBe(
      'A test notice would be sent to ops (webhook), chat (slack). Nothing was sent.\n',
    );
    expect(receiver.received).toEqual([]);
    const { exitCode, stdout } = await shop.cli('notify', 'test');
    expect(exitCode).toBe(0);
    expect(stdout).toBe('✓ ops (webhook): sent\n✓ chat (slack): sent\n');
    const [first] = receiver.received;
    expect(first?.json).toMatchObject({ event: 'test', problem: 'test', job: null, title: 'Test notice' });
    expect(new Webhook(SECRET).verify(first?.body ?? '', first?.headers ?? {})).toEqual(first?.json);
    expect((await shop.cli('notify', 'test', 'chat')).stdout).toBe('✓ chat (slack): sent\n');
    expect(receiver.received).toHaveLength(3);
  });

  it('exits with 2 if a channel rejects the message, and still tries the others', async () => {
    const { shop, receiver } = await openDrill({ notify: TWO });
    receiver.answer(404);
    const { exitCode, stdout } = await shop.cli('notify', 'test', '--json');
    expect(exitCode).toBe(2);
    expect(readEvents({ stdout })).toEqual([
      { event: 'channel_tested', channel: 'ops', kind: 'webhook', state: 'failed', reason: 'HTTP 404' },
      { event: 'channel_tested', channel: 'chat', kind: 'slack', state: 'failed', reason: 'HTTP 404' },
    ]);
  });

  it('shows how to fix an unknown channel name or a missing channel configuration', async () => {
    const { shop } = await openDrill({ notify: TWO });
    const misspelt = await shop.cli('notify', 'test', 'chatt');
    expect(misspelt.exitCode).toBe(2);
    expect(misspelt.stderr).toContain('Did you mean "chat"?');
    const { shop: without } = await openDrill({ notify: '' });
    const none = await without.cli('notify', 'test');
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toContain('ops: { kind: slack');
  });
});

describe('notify history', () => {
  it('lists the notices with the state of their deliveries', async () => {
    const { shop } = await openDrill();
    expect((await shop.cli('notify', 'history')).stdout).toBe('No notice was sent yet.\n');
    await shop.run();
    const { stdout } = await shop.cli('notify', 'history', '--json');
    expect(readEvents({ stdout })).toMatchObject([
      {
        event: 'notice',
        change: 'opened',
        problem: 'job_failed',
        job: 'orders',
        severity: 'error',
        deliveries: [{ channel: 'ops', state: 'sent', attempts: 1 }],
      },
    ]);
    expect((await shop.cli('notify', 'history')).stdout).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d {2}opened: job_failed orders\n {2}Run 1 of orders failed/,
    );
  });
});

it('status lists open problems that have no section of their own', async () => {
  const { shop } = await openDrill();
  shop.env.INFLUENCER_API_KEY = 'another-key';
  expect((await shop.run()).exitCode).toBe(4);
  const { stdout } = await shop.cli('status');
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'Open problems The service refused the API key in run 1 of orders. No job can post until the key is accepted.',
  );
  const [status] = readEvents(await shop.cli('status', '--json'));
  expect(status).toMatchObject({ problems: [{ kind: 'key_refused', job: null }], channel_troubles: [] });
});

it('Home of the console lists the problems that notices report, each with its page', async () => {
  const { shop } = await openDrill();
  expect((await shop.run()).exitCode).toBe(2);
  const { get } = await startTestConsole(shop);
  const { text } = await get('/influencers/');
  expect(text).toMatch(/Job failed<\/strong>.*Run 1 of orders failed with exit code 2/s);
  expect(text).toContain('href="/influencers/runs/1">See the run</a>');
  // The page of the run has the advice that the command printed.
  const run = textOf((await get('/influencers/runs/1')).text);
  expect(run).toMatch(
    /It failed with exit code 2: Source shop has no files \(\S+exports\)\. Check the address, the prefix and the glob/,
  );
  expect(run).toContain('Run it again');
});

it('config show masks the settings that give write access to a channel', async () => {
  const { shop, receiver } = await openDrill({ notify: TWO });
  const { stdout } = await shop.cli('config', 'show');
  expect(stdout).toContain('notify.channels.ops.url: (set, not shown)');
  expect(stdout).toContain('notify.channels.ops.secret: (set, not shown)');
  expect(stdout).toContain('notify.channels.chat.kind: slack');
  expect(stdout).not.toContain(receiver.url);
  expect(stdout).not.toContain(SECRET);
});

it('shell completion suggests channel names', async () => {
  const { shop } = await openDrill({ notify: TWO });
  expect((await shop.cli('complete-words', '--', 'notify', 'test', '')).stdout).toBe('ops\nchat\n');
  expect((await shop.cli('complete-words', '--', 'notify', '')).stdout).toBe('test\nhistory\nhelp\n');
});

describe('the notify settings', () => {
  it.each([
    ['a channel without an address', 'channels: {a: {kind: slack}}', 'notify.channels.a.url is missing'],
    [
      'an address that is none',
      'channels: {a: {kind: slack, url: chat}}',
      'Write it like https://example.com/path.',
    ],
    [
      'a route to a channel that is not there',
      'channels: {chat: {kind: slack, url: "https://x.example"}}, routes: [{channels: chatt}]',
      'Did you mean "chat"?',
    ],
    [
      'a route for a job that is not there',
      'channels: {chat: {kind: slack, url: "https://x.example"}}, routes: [{jobs: order, channels: chat}]',
      'Did you mean "orders"?',
    ],
    ['a duration without a unit', 'remind_after: 24', 'It should be a number with m, h or d'],
    [
      'quiet hours without minutes',
      'quiet_hours: {from: "22", to: "07:00"}',
      'It should be a time of day in quotes',
    ],
    ['quiet hours that do not end', 'quiet_hours: {from: "07:00", to: "07:00"}', 'Set a different end'],
    [
      'a zone that is none',
      'quiet_hours: {from: "22:00", to: "07:00", time_zone: Europe/Amsterdm}',
      'Did you mean "Europe/Amsterdam"?',
    ],
    [
      'a misspelt setting of a route',
      'channels: {chat: {kind: slack, url: "https://x.example"}}, routes: [{sevrity: error, channels: chat}]',
      'Did you mean "severity"?',
    ],
    [
      'a digest for PagerDuty',
      'channels: {p: {kind: pagerduty, routing_key: k}}, digest: {at: "08:00", channels: p}',
      'Choose channels of another kind.',
    ],
  ])('reject %s', async (_what, settings, told) => {
    const { shop } = await openDrill({ notify: `notify: {${settings}}\n` });
    const { exitCode, stderr } = await shop.cli('config', 'show');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(told);
  });
});
