import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { WebhookEvent } from '../../../src/core/http/webhook-event.ts';
import { readEvent } from '../../../src/ledger/receiver/read-event.ts';
import { createEventStore, receiveEvents } from '../../../src/ledger/receiver/receive-event.ts';
import { specifiedService } from '../../../src/service/description/schema.ts';
import { ENGINES, useDatabase } from '../../intake/story.ts';
import { insertEntry, readFacts, startWorker } from '../entries.ts';
import { orderEvent } from './deliver.ts';

function read(text: string): WebhookEvent {
  return readEvent({ body: Buffer.from(text), addressKind: null, timestamp: undefined });
}

function codeEvent(deal: string, code: string): WebhookEvent {
  return read(JSON.stringify({ deal_id: deal, code_information: { new_discount_code: code } }));
}

it('an event is read in the words of the service: its members, its kind and its envelope', () => {
  const text = JSON.stringify({ type: 'sale', data: { campaign: 'D1', order_information: { order_id: 1 } } });
  const { kind, dealId, order } = readEvent({
    body: Buffer.from(text),
    addressKind: null,
    timestamp: undefined,
    events: {
      ...specifiedService.events,
      envelope: 'data',
      kind: 'type',
      kinds: { new_influencer_order: 'sale' },
      members: { deal_id: 'campaign' },
    },
  });
  expect({ kind, dealId, orderId: order?.orderId }).toEqual({
    kind: 'new_influencer_order',
    dealId: 'D1',
    orderId: '1',
  });
});

describe.each(ENGINES)('concurrent events, on %s', (engine) => {
  const database = useDatabase(engine);

  it('are stored once each, in order of arrival, together with changes of codes', async () => {
    const db = database();
    const codes = Array.from({ length: 40 }, (_, index) => `order-${index}`);
    const events = [...codes, ...codes].map((code) => codeEvent('D-order', code));
    const isNew = await receiveEvents(db, events);
    expect(isNew).toEqual(events.map((_, index) => index < codes.length));
    const { rows } = await sql<{ new_value: string }>`
      select new_value from intake.code_changes where deal_id = 'D-order' order by event_id`.execute(db);
    expect(rows.map(({ new_value }) => new_value)).toEqual(codes);
    const one = [...events.slice(0, 1), codeEvent('D-other', 'new')];
    expect(await receiveEvents(db, one), 'a known one beside a new one').toEqual([false, true]);
  });

  it('share one commit', async () => {
    const db = database();
    await Promise.all(['a', 'b', 'c'].map((code) => codeEvent('D-shared', code)).map(createEventStore(db)));
    // Rows written in one transaction carry its number.
    const { rows } = await sql<{ xmin: string }>`
      select xmin::text from intake.code_changes where deal_id = 'D-shared'`.execute(db);
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(1);
  });

  it('are stored one by one if the database rejects one of them, and only that one fails', async () => {
    const db = database();
    const store = createEventStore(db);
    const refused = { ...read('{}'), body: 'not json', bodySha256: 'refused' };
    const events = [codeEvent('D-alone', 'a'), refused, codeEvent('D-alone', 'b'), refused];
    const ends = await Promise.allSettled(events.map(store));
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    const { rows } = await sql`select from intake.code_changes where deal_id = 'D-alone'`.execute(db);
    expect(rows).toHaveLength(2);
  });

  it('settle and hold the orders that they name, regardless of the others in the group', async () => {
    const db = database();
    const worker = await startWorker(db);
    const [doubtful, waiting] = ['S-doubt', 'S-wait'];
    const inDoubt = await insertEntry(db, { runId: worker.runId, orderId: doubtful });
    await worker.claim(inDoubt);
    await sql`update ledger.entries set state = 'in_doubt', owner = null, doubtful_attempt = 1, state_reason = 'timeout'
      where entry_id = ${inDoubt}::bigint`.execute(db);
    const ready = await insertEntry(db, { runId: worker.runId, orderId: waiting });
    const orders = ['S-other', doubtful, waiting, 'S-another', doubtful].map((id, index) =>
      read(orderEvent(id, { order_name: `${index}`, order_revenue: 10 })),
    );
    expect(await receiveEvents(db, orders)).toEqual([true, true, true, true, true]);
    expect((await readFacts(db, inDoubt)).state).toBe('accepted');
    expect((await readFacts(db, ready)).state).toBe('held');
    const { rows } = await sql<{ order_id: string; is_known: boolean }>`
      select order_id, entry_id is not null as is_known from ledger.evidence where order_id like 'S-%' order by order_id`.execute(
      db,
    );
    expect(rows.map(({ order_id, is_known }) => `${order_id} ${is_known}`)).toEqual([
      'S-another false',
      'S-doubt true',
      'S-doubt true',
      'S-other false',
      'S-wait true',
    ]);
  });
});
