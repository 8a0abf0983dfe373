import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { redactEvent } from '../../../src/ledger/receiver/read-event.ts';
import { migrateBy } from '../../support/migrate-by.ts';
import { setup } from '../../support/setup.ts';
import { deliver, openReceiver, orderEvent } from './deliver.ts';

/** Events of each kind that may contain personal data, and one of an undocumented kind. */
const PERSONAL = [
  {
    deal_id: 'D1',
    deal_info: { deal_name: 'mia.test', is_active: true, full_name: 'Mia Marsh', picture_url: null },
    send_product_info: {
      line_items: [{ title: 'Marsh dress', quantity: 2 }],
      customer: { email: 'mia@marsh.example', first_name: 'Mia Marsh', id: 77001 },
      shipping_address: { street: 'Marsh Lane 1', zip: 77001, country_code: 'NL' },
      phone: '+31 77001',
    },
  },
  {
    email_information: {
      subject: 'Marsh',
      body: 'I live in Marsh Lane',
      to: ['Marsh'],
      received_time: '2026-01-16 09:15:00',
    },
  },
  { payout_comment: 'to Marsh', payout_amount: 12.5, payout_currency: 'EUR', brand_id: '4819' },
  { who: { knows: [{ what: 'Marsh', n: 77001, yes: true, nothing: null }] } },
  'Marsh',
  ['Marsh', 77001],
];

it('personal values of an event are not stored, but its amounts, ids and member names are', async () => {
  const { db } = await setup();
  const { url } = await openReceiver(db);
  for (const event of PERSONAL) expect(await deliver(url, JSON.stringify(event))).toBe(200);
  expect(await deliver(url, 'Marsh <mia@marsh.example>')).toBe(200);
  const { rows } = await sql<{
    body: unknown;
  }>`select body from ops.webhook_events order by event_id`.execute(db);
  expect(JSON.stringify(rows)).not.toMatch(/marsh|77001/i);
  expect(rows[0]?.body).toMatchObject({
    deal_id: 'D1',
    deal_info: { deal_name: 'mia.test', is_active: true, full_name: '[not stored]', picture_url: null },
    send_product_info: { line_items: [{ title: '[not stored]', quantity: 2 }] },
  });
  expect(rows[2]?.body).toMatchObject({ payout_amount: 12.5, payout_currency: 'EUR', brand_id: '4819' });
});

it('the migration redacts stored events like new ones', async () => {
  const { db } = await setup();
  const before = [...PERSONAL, JSON.parse(orderEvent('1')) as object];
  for (const [place, event] of before.entries())
    await sql`insert into ops.webhook_events (kind, body, body_sha256) values ('unknown', ${JSON.stringify(event)}::jsonb, ${String(place)})`.execute(
      db,
    );
  await migrateBy(db, (name) => name === '0040_redacted_events');
  const { rows } = await sql<{
    body: unknown;
  }>`select body from ops.webhook_events order by event_id`.execute(db);
  expect(rows.map(({ body }) => body)).toEqual(before.map((event) => redactEvent(event)));
});
