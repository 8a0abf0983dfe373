import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export type ReceivedEvent = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  readonly body: Record<string, unknown>;
};

/** Starts a receiver of events in this process that closes when the test ends. */
export async function startReceiver(): Promise<{
  readonly url: string;
  readonly events: readonly ReceivedEvent[];
  /** Statuses of the next answers; 200 afterwards. */
  readonly statuses: number[];
}> {
  const events: ReceivedEvent[] = [];
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    const body = JSON.parse(raw.toString()) as Record<string, unknown>;
    events.push({ path: request.url ?? '', headers: request.headers, raw, body });
    response.writeHead(statuses.shift() ?? 200, { location: '/elsewhere' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, events, statuses };
}
