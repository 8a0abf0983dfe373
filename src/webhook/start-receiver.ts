import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';
import type { WebhookEvent, WebhookSettings } from '../model/webhook-event.ts';
import { readEvent } from './read-event.ts';
import { verifySignature } from './verify-signature.ts';

/** What became of one delivery. */
export type DeliveryFate = 'stored' | 'replayed' | 'forged' | 'unsigned' | 'not_stored' | 'refused';

export type ReceiverOptions = {
  readonly settings: WebhookSettings;
  /** Makes an event durable before it resolves. @returns false when the same body was stored before. */
  readonly store: (event: WebhookEvent) => Promise<boolean>;
  /** Told of every delivery; no bodies. */
  readonly onDelivery?: (fate: DeliveryFate, status: number, kind: string | null) => void;
  /** Told why an event could not be stored. */
  readonly onError?: (error: unknown) => void;
  /** How long a sender may take for a whole request; 10 s when not given. */
  readonly requestTimeoutMs?: number;
};

export type Receiver = {
  /** Where events are posted to. */
  readonly url: string;
  /** Takes nothing new, waits for what is on its way. */
  close(): Promise<void>;
};

/** A sender that has not sent everything by then is slow on purpose. */
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_TIMEOUTS_EVERY_MS = 500;
/** Far more than any number of senders; fewer than the files that a process may open. */
const MAX_CONNECTIONS = 500;
/** After which time the service may try again what could not be stored. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Receives events of the service: verifies the signature over the raw body, has each event stored, and only then answers 2xx.
 *
 * @throws KnownError `port_unusable` (exit 2).
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host, port, path } = options.settings;
  const server = buildReceiver(options);
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw new KnownError({
      code: 'port_unusable',
      message: `The receiver cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      where: `${host}:${port}`,
      help: 'Choose another webhooks.host or webhooks.port.',
      safe: 'Nothing was received.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${path}`,
    close: () => server.close(),
  };
}

function buildReceiver(options: ReceiverOptions): FastifyInstance {
  const { settings, onDelivery = () => {}, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const server = Fastify({
    bodyLimit: settings.maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    http: { connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS, headersTimeout: requestTimeoutMs },
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  // The signature is over the bytes as they came, so nothing reads them first, whatever they are called.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const receive = (request: FastifyRequest, reply: FastifyReply) => receiveDelivery(options, request, reply);
  server.post(settings.path, receive);
  server.post(`${settings.path}/:kind`, receive);
  server.get('/health', () => ({ status: 'ok' }));
  server.setNotFoundHandler((_request, reply) => answer(reply, 404, 'There is no such path.'));
  server.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    onDelivery('refused', status, null);
    return answer(reply, status, status === 413 ? 'The body is too large.' : 'It could not be read.');
  });
  return server;
}

async function receiveDelivery(
  { settings, store, onDelivery = () => {}, onError = () => {} }: ReceiverOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const prefix = settings.headerPrefix.toLowerCase();
  const signature = headerOf(request, `${prefix}-signature`);
  if (signature === undefined) {
    onDelivery('unsigned', 401, null);
    return answer(reply, 401, `There is no header ${settings.headerPrefix}-Signature.`);
  }
  if (!verifySignature(body, signature, settings)) {
    onDelivery('forged', 401, null);
    return answer(reply, 401, 'The signature does not fit the body.');
  }
  const { kind: addressKind = null } = request.params as { readonly kind?: string };
  const event = readEvent({ body, addressKind, timestamp: headerOf(request, `${prefix}-timestamp`) });
  try {
    const isNew = await store(event);
    onDelivery(isNew ? 'stored' : 'replayed', 200, event.kind);
    return answer(reply, 200, isNew ? 'The event was stored.' : 'The event was stored before.');
  } catch (error) {
    onError(error);
    onDelivery('not_stored', 503, event.kind);
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return answer(reply, 503, 'The event could not be stored: send it again.');
  }
}

/** Node joins a header that came twice, so two signatures are never one that fits. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function answer(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ message });
}
