import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type OperationName, operationNames, operationOf } from '../service/contract.ts';
import { operationAt } from '../service/description/translate.ts';
import { explainUnknownMembers } from '../service/unknown-members.ts';
import { type Body, createAnswerer } from './answer-request.ts';
import type { Context } from './context.ts';
import { addControlRoutes } from './control.ts';
import type { Mishap } from './faults.ts';
import { type Answer, refuse, type Session } from './operations/operation.ts';
import { playFault } from './play-fault.ts';
import { playService } from './play-service.ts';
import type { Fate } from './request-log.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Builds the server, with a route for every operation that has a handler and the control routes under
 * `/_sandbox`.
 */
export function buildServer(context: Context): FastifyInstance {
  const server = Fastify({ bodyLimit: MAX_BODY_BYTES, exposeHeadRoutes: false, forceCloseConnections: true });
  // Fastify requires a body for QUERY and answers 400 without one. Registered as a plain method without
  // routes, it gets a 405.
  server.addHttpMethod('QUERY', { overrideExisting: true });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    done(null, readBody(bytes as Buffer));
  });
  for (const name of operationNames) addOperation(server, context, name);
  addControlRoutes(server, context);
  server.setNotFoundHandler((request, reply) => refuseUnknown(server, context, request, reply));
  server.setErrorHandler(
    (error: { readonly statusCode?: number; readonly code?: string }, request, reply) => {
      const status = error.statusCode ?? 500;
      const answer = refuse(status, MESSAGES[status] ?? 'The request could not be processed.');
      finish(context, visitOf(context, null, { request, reply }), answer);
    },
  );
  return server;
}

const MESSAGES: Readonly<Record<number, string>> = {
  413: 'The body is too large: 1 MiB at most.',
  415: 'The body must be application/json.',
};

function readBody(bytes: Buffer): Body {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) return { text, value: undefined, problem: 'The body must be UTF-8 text.' };
  try {
    return { text, value: JSON.parse(text) };
  } catch {
    return { text, value: undefined };
  }
}

type Visit = {
  readonly name: OperationName | null;
  /** The session of the request's key. */
  readonly session: Session | null;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly sequence: number;
};

function addOperation(server: FastifyInstance, context: Context, name: OperationName): void {
  const [anonymous] = context.sessions.values();
  const answer = anonymous === undefined ? null : createAnswerer(name, anonymous, context.isStrict);
  if (answer === null) return;
  const operation = operationOf(name);
  const played = playService(context.service);

  const run = ({ request }: Visit): Answer => {
    const asked = { query: request.query, body: request.body as Body | undefined | null };
    const own = played?.readRequest(name, asked) ?? asked;
    const done =
      played?.refuseSize(name, own) ??
      answer({
        key: keyOf(context, request),
        // Looked up only now, because the accounts may have been reset while a fault delayed the request.
        session: sessionOf(context, keyOf(context, request)),
        ...own,
        isQueryReadable: isReadable(request.url),
      });
    return played?.writeAnswer(name, done, asked) ?? done;
  };

  // Returns undefined for a reply that is already sent: Fastify would await a returned reply like a promise.
  function serve(request: FastifyRequest, reply: FastifyReply): undefined | Promise<FastifyReply> {
    const visit = visitOf(context, name, { request, reply });
    const mishap = context.faults.decide({
      operation: name,
      path: pathOf(request),
      query: request.query,
      body: (request.body as Body | undefined | null)?.value,
    });
    if (mishap !== null && mishap.latencyMs > 0)
      return sleep(mishap.latencyMs).then(() => suffer(visit, mishap));
    if (mishap === null) finish(context, visit, run(visit));
    else suffer(visit, mishap);
    return undefined;
  }

  function suffer(visit: Visit, { rule, isProcessed }: Mishap): FastifyReply {
    if (rule === null) return finish(context, visit, run(visit));
    const done = isProcessed ? run(visit) : STAND_IN;
    context.stateStore.commit();
    const status = playFault({ reply: visit.reply, rule, answer: done, goDown: context.goDown });
    record(context, visit, {
      status,
      isProcessed: isProcessed && done.isProcessed,
      fault: rule.kind,
      unknownMembers: [],
    });
    return visit.reply;
  }

  const { path, method } = operationAt(context.service, name);
  for (const url of new Set([path ?? operation.path, ...operation.otherPaths])) {
    server.route({ method: method ?? operation.method, url, handler: serve });
  }
}

/** Sent in part if a fault cuts off or stalls the body of an answer although the request is not processed. */
const STAND_IN: Answer = { status: 200, body: { message: 'Your request was received.' }, isProcessed: false };

function visitOf(
  context: Context,
  name: OperationName | null,
  { request, reply }: Pick<Visit, 'request' | 'reply'>,
): Visit {
  const session = sessionOf(context, keyOf(context, request));
  return { name, session, request, reply, sequence: context.requestLog.nextSequence() };
}

/** The key of a request, without what this service expects before it. */
function keyOf({ service }: Context, { headers }: FastifyRequest): string | readonly string[] | undefined {
  const { header, prefix } = service.authentication;
  const value = headers[header.toLowerCase()];
  if (typeof value !== 'string' || prefix === '') return value;
  return value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}

function sessionOf({ sessions }: Context, key: string | readonly string[] | undefined): Session | null {
  return (typeof key === 'string' ? sessions.get(key) : undefined) ?? null;
}

function finish(context: Context, visit: Visit, answer: Answer): FastifyReply {
  const { unknownMembers = [] } = answer;
  record(context, visit, {
    status: answer.status,
    isProcessed: answer.isProcessed,
    fault: null,
    unknownMembers: unknownMembers.map(({ path }) => path),
  });
  warnOfUnknown(context, visit, answer);
  if (answer.retryAfterSeconds !== undefined) visit.reply.header('retry-after', answer.retryAfterSeconds);
  visit.reply.headers(answer.headers ?? {});
  return visit.reply.code(answer.status).send(answer.body);
}

/** Warns that a member was ignored: the client in a header, the operator in a line of output. */
function warnOfUnknown({ warn }: Context, { name, reply }: Visit, { unknownMembers = [] }: Answer): void {
  if (unknownMembers.length === 0) return;
  const text = explainUnknownMembers(unknownMembers).replaceAll('…', '...');
  reply.header('x-sandbox-warning', `not in the contract, ignored: ${text}`);
  warn(`${name}: not in the contract, ignored: ${text}`);
}

function record(
  context: Context,
  { name, session, request, sequence }: Visit,
  fate: Pick<Fate, 'status' | 'isProcessed' | 'fault' | 'unknownMembers'>,
): void {
  context.requestLog.recordRequest({
    sequence,
    accountId: session?.world.account.id ?? null,
    operation: name,
    method: request.method,
    path: pathOf(request),
    ...fate,
  });
  context.journal.add({
    sequence,
    at: new Date(context.clock.now()).toISOString(),
    account_id: session?.world.account.id ?? null,
    operation: name,
    method: request.method,
    url: request.url,
    headers: request.headers,
    body: (request.body as Body | undefined | null) ?? null,
    secrets: context.tenants.flatMap(({ keys, webhookSecret }) => [...keys, webhookSecret]),
    ...fate,
  });
  // Commit the changes before the client gets its answer.
  context.stateStore.commit();
}

/** @returns true if everything percent-encoded in the address is valid UTF-8. */
function isReadable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function pathOf(request: FastifyRequest): string {
  const { url } = request;
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

function refuseUnknown(
  server: FastifyInstance,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const visit = visitOf(context, null, { request, reply });
  const methods = (['GET', 'POST', 'DELETE'] as const).filter((method) =>
    server.hasRoute({ method, url: pathOf(request) }),
  );
  if (methods.length === 0) return finish(context, visit, refuse(404, 'There is no such path.'));
  reply.header('allow', methods.join(', '));
  return finish(context, visit, refuse(405, `This path takes ${methods.join(' or ')}.`));
}
