/**
 * The event receiver with a store that keeps nothing. Shows the cost of receiving and verifying without a
 * database. Prints its address.
 */

import { startReceiver } from '../src/ledger/receiver/start-receiver.ts';
import { specifiedService } from '../src/service/description/schema.ts';

const [, , secret = ''] = process.argv;
const receiver = await startReceiver({
  settings: {
    host: '127.0.0.1',
    port: 0,
    path: '/webhooks',
    secrets: [secret],
    events: specifiedService.events,
    maxBodyBytes: 1024 * 1024,
    maxConnectionsPerAddress: 250,
    maxAgeSeconds: 0,
  },
  store: async () => true,
});
process.stdout.write(`${JSON.stringify({ url: receiver.url, key: 'none' })}\n`);
process.once('SIGTERM', () => void receiver.close());
