import type { ServerResponse } from 'node:http';

/** How often to poll the database for changes while a browser is connected. */
const POLL_MS = 2_000;
/** Proxies close a stream without data after about a minute. */
const KEEP_ALIVE_MS = 15_000;

export type LiveUpdates = {
  /** Keeps a response open and sends it each change until it is closed. */
  add(response: ServerResponse): void;
  close(): void;
};

/**
 * Notifies browsers of changes with server-sent events. One poll serves all browsers; there is none while no
 * browser is connected.
 *
 * @param readVersion returns a text that differs whenever a page would.
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
      // An unreachable database counts as unchanged; the next poll tries again.
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
