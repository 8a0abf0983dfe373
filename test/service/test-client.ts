import { onTestFinished } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/service/client.ts';

/** Opens a client with short timeouts that is closed when the test ends. */
export function openClient(url: string, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({
    url,
    key: 'test-key',
    connections: 4,
    timeoutMs: 5_000,
    connectTimeoutMs: 1_000,
    ...options,
  });
  onTestFinished(() => client.destroy());
  return client;
}

export const ORDER = '{"deal_id":"ETUNQ6ZTW1","order_id":"1001","order_revenue":1249.00}';
