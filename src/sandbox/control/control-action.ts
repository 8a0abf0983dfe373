import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { webhookTypes } from '../../service/contract/webhook-types.ts';
import { explainIssues } from '../../service/explain-issues.ts';
import { createAnswerer } from '../answer-request.ts';
import type { Context } from '../build-server.ts';
import { isWebhookType, triggerEvent } from '../events/trigger-event.ts';
import type { Tenant } from '../open-tenant.ts';
import { type Answer, refuse, type Session } from '../operations/operation.ts';
import { chooseTenant } from './choose-tenant.ts';
import { describeCredits, type Guard } from './control-state.ts';

const credits = z.strictObject({ search: z.number().min(0).optional(), reports: z.int().min(0).optional() });

/** Adds the routes that do what people do in the service's web application, in one account. */
export function addActionRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.post('/_sandbox/credits', { onRequest }, (request, reply) => {
    const read = credits.safeParse(bodyOf(request));
    if (!read.success) return reply.code(400).send({ message: explainIssues(read.error.issues) });
    const chosen = chooseTenant(context, request);
    if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
    const { world } = chosen.tenant;
    world.account.credits.refill(read.data);
    context.stateStore.commit();
    return reply.send(describeCredits(world));
  });
  server.post<{ Params: { kind: string } }>('/_sandbox/trigger/:kind', { onRequest }, (request, reply) => {
    const chosen = chooseTenant(context, request);
    const answer =
      chosen.kind === 'refused'
        ? chosen.answer
        : trigger(chosen.tenant, request.params.kind, bodyOf(request));
    context.stateStore.commit();
    return reply.code(answer.status).send(answer.body);
  });
}

function trigger({ world, sessions }: Tenant, kind: string, input: unknown): Answer {
  if (!isWebhookType(kind))
    return refuse(404, `There is no such kind of event. There are: ${webhookTypes.join(', ')}.`);
  return triggerEvent(world, kind, { input, refer: (order) => refer([...sessions.values()][0], order) });
}

/** Posts an order as the first user of the account, without a rate limit. */
function refer(session: Session | undefined, order: unknown): Answer {
  if (session === undefined) return refuse(404, 'The account has no user.');
  const unlimited = { ...session, rateLimit: null };
  const answer = createAnswerer('new_influencer_referral', unlimited);
  const request = {
    key: 'of the user',
    session: unlimited,
    query: {},
    body: { text: JSON.stringify(order), value: order },
  };
  return answer?.(request) ?? refuse(404, 'The sandbox takes no referrals.');
}

function bodyOf(request: FastifyRequest): unknown {
  return (request.body as { readonly value?: unknown } | undefined)?.value;
}
