import type { ServerResponse } from 'node:http';

/** How often the database is asked whether something has changed, while somebody looks. */
const POLL_MS = 2_000;
/** Proxies close a stream on which nothing comes for a minute. */
const KEEP_ALIVE_MS = 15_000;

export type LiveUpdates = {
  /** Keeps a response open, and tells it of each change until it is closed. */
  add(response: ServerResponse): void;
  close(): void;
};

/**
 * Tells browsers that something has changed, by server-sent events. One poll serves all of them, and none is made while nobody looks.
 *
 * @param readVersion a text that differs when a page would.
 */
export function createLiveUpdates(readVersion: () => Promise<string>): LiveUpdates {
  const clients = new Set<ServerResponse>();
  let version: string | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isPolling = false;
  let sentAt = 0;

  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      // A database that is away has not changed; the next poll sees.
      const now = await readVersion().catch(() => version);
      const hasChanged = version !== null && now !== version;
      version = now;
      if (hasChanged) send('event: changed\ndata: \n\n');
      else if (performance.now() - sentAt > KEEP_ALIVE_MS) send(': still here\n\n');
    } finally {
      isPolling = false;
    }
  }

  function send(text: string): void {
    sentAt = performance.now();
    for (const client of clients) client.write(text);
  }

  return {
    add(response) {
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      response.write('retry: 2000\n\n');
      clients.add(response);
      timer ??= setInterval(() => void poll(), POLL_MS);
      void poll();
      response.on('close', () => {
        clients.delete(response);
        if (clients.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
        version = null;
      });
    },
    close() {
      if (timer !== null) clearInterval(timer);
      for (const client of clients) client.end();
    },
  };
}
