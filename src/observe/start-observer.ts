import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { Metrics } from './metrics.ts';

/** Whether this process does what it is for, each part with its word. */
export type Readiness = {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean } & Readonly<Record<string, unknown>>>>;
};

export type ObserverOptions = {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly readiness: () => Readiness;
};

export type Observer = {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
};

/** Nobody who asks how things are needs longer. */
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Serves /healthz (the process lives), /readyz (it does what it is for) and /metrics. None of them asks the database more than it can bear:
 * readiness is what the last look found, and metrics are remembered for a while.
 *
 * @throws KnownError `port_unusable` (exit 2).
 */
export async function startObserver({ host, port, metrics, readiness }: ObserverOptions): Promise<Observer> {
  // Three fixed answers need no framework, which would be 3 MB of a process that waits.
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, answerWith({ metrics, readiness }));
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (cause) {
    throw new KnownError({
      code: 'port_unusable',
      message: `serve cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      where: `${host}:${port}`,
      help: 'Choose another port (--port, serve.port) or address (serve.host).',
      safe: 'Nothing was run.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function answerWith({ metrics, readiness }: Pick<ObserverOptions, 'metrics' | 'readiness'>): RequestListener {
  return (request, reply) => {
    const send = (status: number, value: object): void => {
      reply
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(value));
    };
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = isRead ? request.url?.replace(/\?.*$/, '') : null;
    if (path === '/healthz') return send(200, { status: 'ok' });
    if (path === '/readyz') {
      const answer = readiness();
      return send(answer.ready ? 200 : 503, answer);
    }
    if (path !== '/metrics') return send(404, { error: 'There is /healthz, /readyz and /metrics.' });
    metrics.text().then(
      (text) => reply.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => send(500, { error: 'The figures could not be gathered.' }),
    );
  };
}
