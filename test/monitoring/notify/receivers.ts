import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ChannelSettings } from '../../../src/config/notify-fields.ts';

/** A request as received. */
export type Received = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly json: Record<string, unknown>;
};

export type Receiver = {
  readonly url: string;
  /** Requests in the order of arrival. */
  readonly received: Received[];
  /** Delays all further answers by this time. */
  slowDown(ms: number): void;
  /** Sets the status of all further answers; null: it never answers. */
  answer(status: number | null, headers?: Record<string, string>): void;
};

/** Starts a real HTTP server that accepts every request, and stops at the end of the test. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let waitMs = 0;
  let answer: { status: number | null; headers: Record<string, string> } = { status: 200, headers: {} };
  const server = createServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const headers = request.headers as Record<string, string>;
      const isJson = headers['content-type'] === 'application/json';
      const json = isJson ? (JSON.parse(body) as Record<string, unknown>) : {};
      received.push({ path: request.url ?? '', headers, body, json });
      const { status, headers: more } = answer;
      if (status !== null) setTimeout(() => reply.writeHead(status, more).end('ok'), waitMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    slowDown: (ms) => {
      waitMs = ms;
    },
    answer: (status, headers = {}) => {
      answer = { status, headers };
    },
  };
}

export const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;

/** Returns a channel `ops` that posts to a receiver. */
export function webhookTo({ url }: Pick<Receiver, 'url'>): ChannelSettings {
  return { name: 'ops', kind: 'webhook', url: `${url}/ops`, secret: SECRET };
}
