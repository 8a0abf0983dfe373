import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { explainIssues } from '../api/call.ts';
import { webhookTypes } from '../api/contract/webhook-types.ts';
import type { Customer } from './account.ts';
import { createAnswerer } from './answer-request.ts';
import type { Desk } from './build-server.ts';
import { isWebhookType, triggerEvent } from './events/trigger-event.ts';
import { readDealId } from './find-collaboration.ts';
import { describeIdentified } from './operations/identify.ts';
import { refuse } from './operations/operation.ts';

export type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

const credits = z.strictObject({ search: z.number().min(0).optional(), reports: z.int().min(0).optional() });

/** Routes that show what the web application of the service would show, and make happen what people do there. */
export function addStateRoutes(server: FastifyInstance, desk: Desk, onRequest: Guard): void {
  const { account } = desk;
  const refer = createAnswerer('new_influencer_referral', desk, { key: desk.key, rateLimit: null });

  server.get('/_sandbox/customers', { onRequest }, () =>
    [...account.customers.items.values()].map((customer) => describeCustomer(desk, customer)),
  );
  server.get('/_sandbox/deliveries', { onRequest }, (_request, reply) => {
    const lines = [...desk.events.deliveries()].map((delivery) => `${JSON.stringify(delivery)}\n`);
    return reply.type('application/x-ndjson').send(lines.join(''));
  });
  server.get('/_sandbox/store', { onRequest }, () => [...account.store.items.values()]);
  server.get('/_sandbox/outreach', { onRequest }, () =>
    [...account.submitted.items].map(([user_id, outreach_id]) => ({ user_id, outreach_id })),
  );
  server.get<{ Params: { id: string } }>('/_sandbox/deals/:id', { onRequest }, (request, reply) => {
    const deal = account.deals.get(readDealId(request.params.id));
    if (deal === undefined) return reply.code(404).send({ message: 'There is no such deal.' });
    const { id, isActive, funnelStep, notes, tasks } = deal;
    return reply.send({ deal_id: id, is_active: isActive, funnel_step: funnelStep, notes, tasks });
  });
  server.get('/_sandbox/credits', { onRequest }, () => describeCredits(desk));
  server.post('/_sandbox/credits', { onRequest }, (request, reply) => {
    const read = credits.safeParse(bodyOf(request));
    if (!read.success) return reply.code(400).send({ message: explainIssues(read.error.issues) });
    account.credits.refill(read.data);
    account.keeper?.commit();
    return reply.send(describeCredits(desk));
  });
  server.post<{ Params: { kind: string } }>('/_sandbox/trigger/:kind', { onRequest }, (request, reply) => {
    const { kind } = request.params;
    const answer = isWebhookType(kind)
      ? triggerEvent(desk, kind, {
          input: bodyOf(request),
          refer: (order) =>
            refer?.({ key: desk.key, query: {}, body: { text: JSON.stringify(order), value: order } }) ??
            refuse(404, 'The sandbox takes no referrals.'),
        })
      : refuse(404, `There is no such kind of event. There are: ${webhookTypes.join(', ')}.`);
    account.keeper?.commit();
    return reply.code(answer.status).send(answer.body);
  });
}

/** A row of "Your customers": queued until its time has come. */
function describeCustomer(
  { population }: Desk,
  { email, brandId, sourceType, queuedAt, dueAt }: Customer,
): unknown {
  const row = {
    email,
    brand_id: brandId,
    source_type: sourceType,
    queued_at: new Date(queuedAt).toISOString(),
  };
  if (Date.now() < dueAt) return { ...row, status: 'queued' };
  const influencer = population.findByEmail(email);
  const result = influencer === null ? { is_influencer: false } : describeIdentified(influencer);
  return { ...row, status: 'done', ...result };
}

function describeCredits({ account }: Desk): unknown {
  return { search: account.credits.search(), reports: account.credits.reports() };
}

function bodyOf(request: FastifyRequest): unknown {
  return (request.body as { readonly value?: unknown } | undefined)?.value;
}
