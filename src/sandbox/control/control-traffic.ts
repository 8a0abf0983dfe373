import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { explainIssues } from '../../service/explain-issues.ts';
import type { Context } from '../build-server.ts';
import { chooseTenant, chooseTenants } from './choose-tenant.ts';
import type { Guard } from './control-state.ts';

const wholeNumber = z
  .string()
  .regex(/^\d{1,12}$/, 'must be a whole number')
  .transform(Number);

const search = z.strictObject({
  account: z.string().optional(),
  operation: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  status: wholeNumber.optional(),
  text: z.string().optional(),
  after: wholeNumber.optional(),
  limit: wholeNumber.default(100),
});

/**
 * Adds the routes that show recent requests with their content, stream events as they happen, and redeliver
 * events.
 */
export function addTrafficRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.get('/_sandbox/requests', { onRequest }, (request, reply) => {
    const read = search.safeParse(request.query);
    if (!read.success) return reply.code(400).send({ message: explainIssues(read.error.issues) });
    return reply.send(context.journal.find(read.data));
  });

  server.get('/_sandbox/events', { onRequest }, (request, reply) => {
    const chosen = chooseTenants(context, request);
    if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
    const ids = chosen.tenants.map(({ world }) => world.account.id);
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { 'content-type': 'application/x-ndjson' });
    raw.flushHeaders();
    const stop = context.stream.watch(({ accountId, kind, body }) => {
      const sender = context.tenants.find(({ world }) => world.account.id === accountId);
      if (sender === undefined || !ids.includes(accountId)) return;
      const headers = sender.signEvent(body);
      raw.write(`${JSON.stringify({ account_id: accountId, webhook_type: kind, headers, body })}\n`);
    });
    raw.on('close', stop);
    return undefined;
  });

  server.post<{ Params: { id: string } }>(
    '/_sandbox/deliveries/:id/redeliver',
    { onRequest },
    (request, reply) => {
      const chosen = chooseTenant(context, request);
      if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
      const delivery = chosen.tenant.world.events.redeliver(Number(request.params.id));
      context.stateStore.commit();
      if (delivery === null) return reply.code(404).send({ message: 'There is no such delivery.' });
      const { id, webhook_type, webhook_url, redelivery_of } = delivery;
      return reply.send({ id, webhook_type, webhook_url, redelivery_of });
    },
  );
}
