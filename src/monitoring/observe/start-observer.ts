import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { hostInUrl } from '../../core/http/is-loopback.ts';
import { configurationError } from '../../core/known-error.ts';
import type { Metrics } from './metrics.ts';

/** An HTTP server to which pages can be added. */
export type HttpServer = FastifyInstance;

/** Whether this process is able to do its work, with one result for each part. */
export type Readiness = {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean } & Readonly<Record<string, unknown>>>>;
};

export type ObserverOptions = {
  readonly host: string;
  readonly port: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly readiness: () => Readiness;
  /** Adds pages for people. Without them, every other path returns an error that lists the three paths. */
  readonly addPages?: (server: HttpServer) => void;
};

export type Observer = {
  /** The address it listens on, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
};

/** A probe or a scrape takes less time. */
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Serves /healthz (the process is alive), /readyz (it is able to do its work) and /metrics. None of them puts
 * much load on the database: readiness is the result of the last poll, and metrics are cached for a while.
 *
 * @throws KnownError `port_unusable` (exit 2).
 */
export async function startObserver(options: ObserverOptions): Promise<Observer> {
  const { host, port, metrics, readiness, addPages } = options;
  const server = openServer();
  server.get('/healthz', () => ({ status: 'ok' }));
  server.get('/readyz', (_request, reply) => {
    const answer = readiness();
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
  if (addPages === undefined)
    server.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ error: 'The paths are /healthz, /readyz and /metrics.' }),
    );
  else addPages(server);
  return listen(server, { host, port, command: 'serve' });
}

/** Creates an HTTP server that does not listen yet. */
export function openServer(): HttpServer {
  return Fastify({ requestTimeout: REQUEST_TIMEOUT_MS, forceCloseConnections: true });
}

/**
 * Starts to listen.
 *
 * @param at.command the command that the error message names.
 * @throws KnownError `port_unusable` (exit 2).
 */
export async function listen(
  server: HttpServer,
  at: { readonly host: string; readonly port: number; readonly command: 'serve' | 'console' },
): Promise<Observer> {
  const { host, port, command } = at;
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw configurationError({
      code: 'port_unusable',
      message: `${command} cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      where: `${host}:${port}`,
      help:
        command === 'serve'
          ? 'Choose another port (--port, serve.port) or address (serve.host).'
          : 'Choose another --port or --host. `serve` shows the console on its own port, too.',
      safe: 'Nothing was run.',
      cause,
    });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return { url: `http://${hostInUrl(host)}:${taken}`, close: () => server.close() };
}
