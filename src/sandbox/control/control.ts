import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback as isLoopbackUrl } from '../../core/text/is-loopback.ts';
import { explainIssues } from '../../service/explain-issues.ts';
import type { Context } from '../build-server.ts';
import { type FaultRule, readFaultRules } from '../faults/fault-rule.ts';
import type { LineLog } from '../line-log.ts';
import { addPages } from '../pages/add-pages.ts';
import { chooseTenants } from './choose-tenant.ts';
import { addActionRoutes } from './control-action.ts';
import { addStateRoutes, type Guard } from './control-state.ts';
import { addTimeRoutes } from './control-time.ts';
import { addTrafficRoutes } from './control-traffic.ts';

/** Version of the API that the sandbox implements, from section Versioning of the specification. */
const VERSION = '1.4.2';

const DOWN_MS = 1_000;

/**
 * Adds the routes that are not part of the service: faults, logs, state, time and health. They need no key
 * and, by default, answer only clients on this machine.
 */
export function addControlRoutes(server: FastifyInstance, context: Context): void {
  const { requestLog, faults } = context;
  const onRequest: Guard = (request, reply, done) => {
    const refusal = whyRefused(request, context.isControlOpen);
    if (refusal === null) done();
    else reply.code(403).send({ message: refusal });
  };

  server.get('/_sandbox/health', { onRequest }, () => ({
    status: 'ok',
    version: VERSION,
    accounts: context.tenants.length,
    requests: requestLog.requests.count(),
    referrals: requestLog.referrals.count(),
    clicks: requestLog.clicks.count(),
  }));
  for (const kind of ['referrals', 'clicks', 'submissions', 'requests'] as const) {
    server.get(`/_sandbox/log/${kind}`, { onRequest }, (request, reply) => {
      const chosen = chooseTenants(context, request);
      if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
      return sendLog(
        reply,
        requestLog[kind],
        chosen.isAll ? null : (chosen.tenants[0]?.world.account.id ?? null),
      );
    });
  }

  server.get('/_sandbox/faults', { onRequest }, () => faults.list());
  server.delete('/_sandbox/faults', { onRequest }, () => {
    faults.clear();
    return faults.list();
  });
  server.post('/_sandbox/faults', { onRequest }, (request, reply) => {
    const read = readFaultRules((request.body as { readonly value?: unknown } | undefined)?.value);
    if (read.kind === 'problems') return reply.code(400).send({ message: explainIssues(read.issues) });
    arm(context, read.rules);
    return reply.send(faults.list());
  });
  addStateRoutes(server, context, onRequest);
  addActionRoutes(server, context, onRequest);
  addTimeRoutes(server, context, onRequest);
  addTrafficRoutes(server, context, onRequest);
  addPages(server, context, onRequest);
}

/**
 * Activates fault rules. A `refuse` rule without conditions takes effect at once, so that the next client
 * finds the port closed.
 */
export function arm(context: Pick<Context, 'faults' | 'goDown'>, rules: readonly FaultRule[]): void {
  const isImmediate = (rule: FaultRule): boolean =>
    rule.kind === 'refuse' && rule.after === 0 && rule.probability === 1 && !rule.operation && !rule.path;
  context.faults.add(rules.filter((rule) => !isImmediate(rule)));
  for (const rule of rules) if (isImmediate(rule)) context.goDown(rule.ms ?? DOWN_MS);
}

/** @param accountId only lines of this account; null for all. */
function sendLog(reply: FastifyReply, log: LineLog, accountId: string | null): FastifyReply {
  const lines = log.read();
  return reply
    .type('application/x-ndjson')
    .send(accountId === null ? lines : Readable.from(linesOf(lines, accountId), { objectMode: false }));
}

async function* linesOf(all: Readable, accountId: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: all })) {
    const { account_id: whose } = JSON.parse(line) as { readonly account_id: string | null };
    if (whose === accountId) yield `${line}\n`;
  }
}

/**
 * Why the control routes do not answer a request; null if they do. A page of another site could reach this machine
 * through its visitor's browser: with an Origin of its own, or under a name of its own that leads here.
 */
function whyRefused({ socket, headers }: FastifyRequest, isOpen: boolean): string | null {
  const { host = '', origin } = headers;
  if (origin !== undefined && URL.parse(origin)?.host !== host)
    return 'The control routes do not answer pages of other sites.';
  if (isOpen) return null;
  if (!isLoopback(socket.remoteAddress)) return 'The control routes answer this machine only.';
  return isLoopbackUrl(`http://${host}`)
    ? null
    : 'The control routes answer only under localhost or 127.0.0.1. Use such an address, or start the sandbox with --open-control.';
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(::ffff:)?127\.|^::1$/.test(address);
}
