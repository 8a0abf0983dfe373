import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { makeDigest } from '../../../src/monitoring/notify/digest.ts';
import { sendNotices } from '../../../src/monitoring/notify/send-notices.ts';
import { manyRows, toCsv } from '../../runs/workshop.ts';
import { openDrill } from './drill.ts';
import { startReceiver, webhookTo } from './receivers.ts';

it('the digest is created once a day after its time and lists open problems, doubts and unowned codes', async () => {
  const { shop } = await openDrill({ notify: '' });
  const { db } = shop;
  shop.drop(
    'orders.csv',
    toCsv([
      { id: 'n1', code: 'NOBODYS', revenue: '30.00' },
      { id: 'n2', code: 'NOBODYS', revenue: '20.50' },
      { id: 'n3', code: 'jane@customer.example', revenue: '7.00', currency: 'USD' },
      { id: 'n4', code: '<!channel>', revenue: '8.00' },
      ...manyRows(3),
    ]),
  );
  await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral', count: 1 }]);
  expect((await shop.run()).exitCode).toBe(6);
  const receiver = await startReceiver();
  const config = {
    notify: {
      channels: [webhookTo(receiver)],
      pings: [],
      routes: [],
      remindAfterMs: null,
      unownedCodesAbove: {},
      quietHours: null,
      digest: { at: '08:00', timeZone: 'Europe/Amsterdam', channels: ['ops'] },
    },
    console: { url: '' },
  };
  const at = (now: string) => makeDigest(db, { config, now: new Date(now) });
  expect(await at('2026-11-24T06:59:00Z')).toBe(false);
  expect(await Promise.all([at('2026-11-24T07:00:00Z'), at('2026-11-24T07:00:01Z')])).toHaveLength(2);
  expect(await at('2026-11-24T22:59:00Z')).toBe(false);
  await sendNotices(db, { config, signal: new AbortController().signal });
  expect(receiver.received).toHaveLength(1);
  const json: Record<string, unknown> = receiver.received[0]?.json ?? {};
  expect(json).toMatchObject({ event: 'digest', problem: 'digest', job: null });
  expect(json.amounts).toHaveLength(1);
  const { summary } = json as { summary: string };
  expect(summary).toMatch(/^No problem is open\.$/m);
  expect(summary).toMatch(/^In doubt: 1, \d\.\d\d EUR\.$/m);
  expect(summary).toMatch(/by revenue in EUR: NOBODYS 50\.50 EUR, /);
  expect(summary).toMatch(/by revenue in USD: .* 7\.00 USD/);
  expect(summary).not.toContain('customer.example');
  // The next day has its own digest.
  expect(await at('2026-11-25T07:00:00Z')).toBe(true);
  const { rows } = await sql`select from ops.notices where event = 'digest'`.execute(db);
  expect(rows).toHaveLength(2);
});
