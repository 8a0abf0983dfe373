import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { WebhookSettings } from '../../config/schema.ts';
import { hostInUrl } from '../../core/http/is-loopback.ts';
import type { WebhookEvent } from '../../core/http/webhook-event.ts';
import { configurationError } from '../../core/known-error.ts';
import { diagnoseSignature } from '../../service/description/diagnose-signature.ts';
import { isSignedBody, readTimestamp } from '../../service/description/signature.ts';
import { BodyPool, BodyRefused } from './body-pool.ts';
import { limitConnections } from './limit-connections.ts';
import { type Delivery, readEvent, toMismatch } from './read-event.ts';

/** The result of one delivery. */
export type DeliveryFate =
  | 'stored'
  | 'replayed'
  | 'forged'
  /** Signed with one of the secrets, but in another way than described. It is refused, and how it is signed is stored. */
  | 'signed_otherwise'
  | 'unsigned'
  | 'stale'
  | 'not_stored'
  | 'refused';

export type ReceiverOptions = {
  readonly settings: WebhookSettings;
  /** Stores an event durably before it resolves. @returns false if the same body was stored before. */
  readonly store: (event: WebhookEvent) => Promise<boolean>;
  /** Called for every delivery, without its body. */
  readonly onDelivery?: (fate: DeliveryFate, status: number, kind: string | null) => void;
  /** Called with the error if an event could not be stored. */
  readonly onError?: (error: unknown) => void;
  /** Time that a sender may take for a whole request. Defaults to 10 s. */
  readonly requestTimeoutMs?: number;
};

export type Receiver = {
  /** The address that events are posted to. */
  readonly url: string;
  /** Accepts no new requests, and waits for those in flight. */
  close(): Promise<void>;
};

/**
 * A sender that takes longer is slow on purpose. The headers, a few hundred bytes, may take half of this
 * time.
 */
const REQUEST_TIMEOUT_MS = 10_000;
/** The service sends one event and then nothing for a while, so connections are not kept open for it. */
const KEEP_ALIVE_MS = 5_000;
const CHECK_TIMEOUTS_EVERY_MS = 500;
/** Far more than the number of senders, and fewer than the open files that a process may have. */
const MAX_CONNECTIONS = 500;
/**
 * Memory for all bodies that are not verified yet. Enough for thousands of events, and acceptable for the
 * smallest container.
 */
const POOL_BYTES = 16 * 1024 ** 2;
/** To try the known ways to sign takes a millisecond, and one answer says it all. */
const DIAGNOSE_EVERY_MS = 60_000;
/** Time after which the service should retry an event that could not be stored. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Receives events of the service. Verifies the signature over the raw body, stores each event, and only then
 * answers 2xx.
 *
 * @throws KnownError `port_unusable` (exit 2).
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { host, port, path } = options.settings;
  const server = buildReceiver(options);
  try {
    await server.listen({ host, port });
  } catch (cause) {
    throw configurationError({
      code: 'port_unusable',
      message: `The receiver cannot listen there (${(cause as NodeJS.ErrnoException).code ?? 'unknown'}).`,
      where: `${host}:${port}`,
      help: 'Choose another webhooks.host or webhooks.port.',
      safe: 'Nothing was received.',
      cause,
    });
  }
  const { port: taken } = server.server.address() as AddressInfo;
  return { url: `http://${hostInUrl(host)}:${taken}${path}`, close: () => server.close() };
}

function buildReceiver(options: ReceiverOptions): FastifyInstance {
  const { settings, onDelivery = () => {}, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const server = Fastify({
    bodyLimit: settings.maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    http: { connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS, headersTimeout: requestTimeoutMs / 2 },
  });
  const connections = limitConnections(server.server, {
    total: MAX_CONNECTIONS,
    perAddress: settings.maxConnectionsPerAddress,
  });
  // Connections that are being closed still count until they are closed.
  server.server.maxConnections = 2 * MAX_CONNECTIONS;
  // The signature covers the raw bytes, so no parser may process them first, whatever the content type.
  server.removeAllContentTypeParsers();
  const pool = new BodyPool({
    poolBytes: Math.max(POOL_BYTES, 2 * settings.maxBodyBytes),
    bodyBytes: settings.maxBodyBytes,
    timeoutMs: requestTimeoutMs,
  });
  server.addContentTypeParser('*', (_request: FastifyRequest, stream: IncomingMessage) => pool.read(stream));
  // Nothing is read from a sender without a signature header, or one that announces too large a body.
  server.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return;
    if (Number(request.headers['content-length'] ?? 0) > settings.maxBodyBytes) throw new BodyRefused(413);
    if (hasSignature(request, settings)) return;
    onDelivery('unsigned', 401, null);
    reply.header('connection', 'close');
    return answer(reply, 401, `The header ${settings.events.signature_header} is missing.`);
  });
  server.addHook('onResponse', async ({ raw }) => connections.release(raw.socket));

  const diagnose = createDiagnosis(options);
  const receive = async (request: FastifyRequest, reply: FastifyReply) => {
    const delivery = await verify({ ...options, diagnose }, request, reply);
    if (delivery === null) return reply;
    connections.protect(request.raw.socket);
    return storeDelivery(options, delivery, reply);
  };
  server.post(settings.path, receive);
  server.post(`${settings.path}/:kind`, receive);
  server.get('/health', () => ({ status: 'ok' }));
  server.setNotFoundHandler((_request, reply) => answer(reply, 404, 'There is no such path.'));
  server.setErrorHandler((error: { readonly statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500;
    onDelivery('refused', status, null);
    if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
    // The rest of the body is not read either.
    if (error instanceof BodyRefused) reply.header('connection', 'close');
    return answer(reply, status, status === 413 ? 'The body is too large.' : 'The body could not be read.');
  });
  return server;
}

/** Returns null if the delivery is not genuine. The request is then already answered. */
async function verify(
  { settings, onDelivery = () => {}, diagnose }: ReceiverOptions & { readonly diagnose: Diagnose },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Delivery | null> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const timestamp = headerOf(request, settings.events.timestamp_header);
  const headers = { signature: signatureOf(request, settings), timestamp };
  if (!isSignedBody(body, headers, settings)) {
    const isMissing = headers.signature === undefined;
    const isGenuine = await diagnose(body, request);
    onDelivery(isGenuine ? 'signed_otherwise' : isMissing ? 'unsigned' : 'forged', 401, null);
    const missing = `The header ${settings.events.signature_header} is missing.`;
    answer(reply, 401, isMissing ? missing : 'The signature does not match the body.');
    return null;
  }
  const { kind: addressKind = null } = request.params as { readonly kind?: string };
  if (isStale(readTimestamp(timestamp, settings.events.timestamp), settings.maxAgeSeconds)) {
    onDelivery('stale', 401, null);
    answer(reply, 401, `The header ${settings.events.timestamp_header} is missing or too far from now.`);
    return null;
  }
  return { body, addressKind, timestamp, events: settings.events };
}

/** Finds out whether a refused event is genuine but signed in another way, and stores how. */
type Diagnose = (body: Buffer, request: FastifyRequest) => Promise<boolean>;

function createDiagnosis({ settings, store, onError = () => {} }: ReceiverOptions): Diagnose {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async (body, { headers }) => {
    if (performance.now() < nextAt) return false;
    nextAt = performance.now() + DIAGNOSE_EVERY_MS;
    const proposal = diagnoseSignature(body, headers, settings);
    if (proposal !== null) await store(toMismatch(body, proposal)).catch(onError);
    return proposal !== null;
  };
}

/** @param maxAgeSeconds 0 turns the check off. */
function isStale(sentAtSeconds: number | null, maxAgeSeconds: number): boolean {
  if (maxAgeSeconds === 0) return false;
  return sentAtSeconds === null || Math.abs(Date.now() / 1000 - sentAtSeconds) > maxAgeSeconds;
}

async function storeDelivery(
  { store, onDelivery = () => {}, onError = () => {} }: ReceiverOptions,
  delivery: Delivery,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const event = readEvent(delivery);
  try {
    const isNew = await store(event);
    onDelivery(isNew ? 'stored' : 'replayed', 200, event.kind);
    return answer(reply, 200, isNew ? 'The event was stored.' : 'The event was already stored.');
  } catch (error) {
    onError(error);
    onDelivery('not_stored', 503, event.kind);
    reply.header('retry-after', RETRY_AFTER_SECONDS);
    return answer(reply, 503, 'The event could not be stored. Send it again.');
  }
}

/** Whether there is a signature: under the described name, or under another one that a diagnosis may name. */
function hasSignature(request: FastifyRequest, settings: WebhookSettings): boolean {
  return (
    signatureOf(request, settings) !== undefined ||
    Object.keys(request.headers).some((name) => name.endsWith('signature'))
  );
}

function signatureOf(request: FastifyRequest, { events }: WebhookSettings): string | undefined {
  return headerOf(request, events.signature_header);
}

/** Node joins repeated headers, so two signatures never equal a valid one. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function answer(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ message });
}
