import { describe, expect, it } from 'vitest';
import type { Queue } from '../../src/store/queue/open-queue.ts';
import { takeEvents } from '../../src/store/queue/take-events.ts';
import { s3Event } from '../support/sqs-server.ts';

const { signal } = new AbortController();

/** A queue that answers a number of requests with ten messages each, and then that it is empty. */
function openFakeQueue({ full, failing = -1 }: { readonly full: number; readonly failing?: number }) {
  const seen = { requests: 0, atOnce: 0, most: 0, deleted: 0 };
  const api = {
    async receiveMessage() {
      const number = seen.requests++;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await new Promise(setImmediate);
      seen.atOnce -= 1;
      if (number === failing) throw new Error('the queue is away');
      const Body = s3Event('ObjectCreated:Put', 'acme-exports', `orders/${number}.csv`);
      return { Messages: number < full ? Array.from({ length: 10 }, () => ({ Body })) : [] };
    },
    async deleteMessageBatch({ Entries }: { readonly Entries: readonly unknown[] }) {
      seen.deleted += Entries.length;
    },
  };
  return { queue: { api, url: 'https://queue' } as unknown as Queue, seen };
}

describe('a queue', () => {
  it('is asked eight times at once until it is empty, and no request waits for the slowest of eight', async () => {
    const { queue, seen } = openFakeQueue({ full: 20 });
    const taken = await takeEvents(queue, { record: async () => {}, signal });
    expect(taken).toEqual({ messages: 200, notUnderstood: 0, isEmpty: true });
    expect(seen.most).toBe(8);
    expect(seen.requests, 'once it is empty, no request begins').toBeLessThanOrEqual(28);
    expect(seen.deleted).toBe(200);
  });

  it('that fails is asked no more, and what others have received is recorded and deleted before the error', async () => {
    const { queue, seen } = openFakeQueue({ full: 1_000, failing: 9 });
    let recorded = 0;
    const record = async (objects: readonly unknown[]): Promise<void> => {
      await new Promise(setImmediate);
      recorded += objects.length;
    };
    await expect(takeEvents(queue, { record, signal })).rejects.toThrow('the queue is away');
    expect(seen.requests).toBeLessThanOrEqual(24);
    expect(recorded).toBe((seen.requests - 1) * 10);
    expect(seen.deleted).toBe(recorded);
  });
});
