/**
 * Measures how many order events per second the receiver stores durably, relative to a receiver that stores
 * nothing. The two alternate.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect } from '../src/db/connect.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { sendLoad } from './load.ts';
import { describePairs, type Measurement, type Pair, pairOfRates } from './measure.ts';
import { startServer } from './sandbox.ts';

const SECRET = 'a-signing-secret';

export type WebhookCase = { readonly events: number; readonly senders: number; readonly rounds: number };

/** @returns stored ÷ not stored, in events per second. */
export async function measureWebhooks({ events, senders, rounds }: WebhookCase): Promise<Measurement> {
  const postgres = await startPostgresServer();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const config = join(folder, 'pipeline.yaml');
  writeFileSync(
    config,
    `database: {url: ${postgres.url}}\nsources: {}\njobs: {}\nwebhooks: {secret: ${SECRET}}\n`,
  );
  const main = new URL('../src/start.js', import.meta.url);
  process.env.LOG_LEVEL = 'warn';
  const storing = await startServer(main, ['webhooks', '--config', config, '--json', '--port', '0']);
  const empty = await startServer(new URL('./empty-receiver.ts', import.meta.url), [SECRET]);
  const db = await connect({ url: postgres.url, embeddedFolder: '' });
  try {
    const pairs: Pair[] = [];
    // The first round warms up both and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const load = {
        path: '/webhooks',
        key: 'none',
        requests: events,
        connections: senders,
        bodyOf: (number: number) => eventOf(`${round}-${number}`),
        headersOf: (body: string) => ({
          'x-service-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
        }),
      };
      const limit = await sendLoad({ ...load, url: empty.url });
      const ours = await sendLoad({ ...load, url: storing.url });
      if (round > 0) pairs.push(pairOfRates(ours, limit));
    }
    const { rows } = await sql<{ stored: number }>`
      select count(*)::integer as stored from ledger.evidence`.execute(db);
    if (rows[0]?.stored !== events * (rounds + 1)) throw new Error(`${rows[0]?.stored} events were stored`);
    return describePairs(`events, ${senders} at a time`, pairs, ['stored/s', 'received/s']);
  } finally {
    await db.destroy();
    storing.stop();
    empty.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  }
}

function eventOf(orderId: string): string {
  return `{"deal_id":"D1","collab_id":"C1","deal_info":{"deal_name":"mia.test"},"order_information":{"order_id":"${orderId}","order_revenue":10.50,"order_currency":"EUR","platform":"shopify"}}`;
}
