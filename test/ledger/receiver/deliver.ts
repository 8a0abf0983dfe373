import { createHmac } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { WebhookSettings } from '../../../src/config/schema.ts';
import type { Database } from '../../../src/db/connect.ts';
import { createEventStore } from '../../../src/ledger/receiver/receive-event.ts';
import { type Receiver, startReceiver } from '../../../src/ledger/receiver/start-receiver.ts';
import { specifiedService } from '../../../src/service/description/schema.ts';

export const SECRET = 'a-signing-secret';

export const SETTINGS: WebhookSettings = {
  host: '127.0.0.1',
  port: 0,
  path: '/webhooks',
  secrets: [SECRET],
  events: specifiedService.events,
  maxBodyBytes: 64 * 1024,
  maxConnectionsPerAddress: 100,
  maxAgeSeconds: 0,
};

export function sign(body: string | Buffer, secret = SECRET, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(body).digest(encoding);
}

/** Starts a receiver in this process with a real database; it closes when the test ends. */
export async function openReceiver(db: Database, settings: Partial<WebhookSettings> = {}): Promise<Receiver> {
  const receiver = await startReceiver({
    settings: { ...SETTINGS, ...settings },
    store: createEventStore(db),
  });
  onTestFinished(() => receiver.close());
  return receiver;
}

/**
 * Posts a body as the service does.
 * @returns the status.
 */
export async function deliver(
  url: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const answer = await fetch(url, {
    method: 'POST',
    body: body as string,
    headers: { 'content-type': 'application/json', 'x-service-signature': sign(body), ...headers },
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Returns a new_influencer_order event as the service sends it. */
export function orderEvent(orderId: string, change: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    deal_id: 'D1',
    collab_id: 'C1',
    webhook_timestamp: '1790000000',
    deal_info: { deal_name: 'mia.test', is_active: true },
    order_information: {
      order_id: orderId,
      order_revenue: 10,
      order_currency: 'EUR',
      commission_rate: 0.1,
      discount_codes: null,
      platform: 'shopify',
      order_timestamp: '2026-05-01T10:00:00Z',
      ...change,
    },
  });
}
