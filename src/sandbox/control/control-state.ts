import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Account, Enquiry } from '../account.ts';
import type { Context } from '../build-server.ts';
import { readDealId } from '../find-collaboration.ts';
import type { Tenant } from '../open-tenant.ts';
import { describeIdentified } from '../operations/identify.ts';
import { refuse, type World } from '../operations/operation.ts';
import { chooseTenant, chooseTenants } from './choose-tenant.ts';

export type Guard = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** The lists of an account, by the last part of their path. */
const LISTS: Readonly<Record<string, (world: World) => Iterable<object>>> = {
  customers: (world) => [...listCustomers(world.account)].map((one) => describeCustomer(world, one)),
  store: ({ account }) => account.store.items.values(),
  outreach: ({ account }) =>
    [...account.submitted.items].map(([user_id, outreach_id]) => ({ user_id, outreach_id })),
  planned: ({ followUps }) =>
    [...followUps.planned()].map(({ dueAtMs, ...item }) => ({
      due_at: new Date(dueAtMs).toISOString(),
      ...item,
    })),
};

/**
 * Adds the routes that show what the service's web application would show, for one account with
 * `?account=<id>` or for all.
 */
export function addStateRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.get('/_sandbox/accounts', { onRequest }, () => context.tenants.map(describeTenant));
  for (const [name, list] of Object.entries(LISTS)) {
    server.get(`/_sandbox/${name}`, { onRequest }, (request, reply) => {
      const chosen = chooseTenants(context, request);
      if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
      return reply.send(rowsOf(chosen.tenants, list));
    });
  }
  server.get('/_sandbox/deliveries', { onRequest }, (request, reply) => {
    const chosen = chooseTenants(context, request);
    if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
    const rows = rowsOf(chosen.tenants, ({ events }) => events.deliveries());
    return reply.type('application/x-ndjson').send(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });
  server.get('/_sandbox/credits', { onRequest }, (request, reply) => {
    const chosen = chooseTenant(context, request);
    if (chosen.kind === 'refused') return reply.code(chosen.answer.status).send(chosen.answer.body);
    return reply.send(describeCredits(chosen.tenant.world));
  });
  server.get<{ Params: { id: string } }>('/_sandbox/deals/:id', { onRequest }, (request, reply) => {
    const chosen = chooseTenant(context, request);
    const answer =
      chosen.kind === 'refused' ? chosen.answer : describeWork(chosen.tenant.world, request.params.id);
    return reply.code(answer.status).send(answer.body);
  });
}

/** Lists rows of several accounts. Each row contains its account id. */
function rowsOf(tenants: readonly Tenant[], list: (world: World) => Iterable<object>): readonly object[] {
  return tenants.flatMap(({ world }) =>
    [...list(world)].map((row) => ({ account_id: world.account.id, ...row })),
  );
}

/** Describes an account without its keys, which were printed when the sandbox started. */
function describeTenant({ world, sessions }: Tenant): object {
  const { id, brands, dealflows, outreaches, deals, webhooks } = world.account;
  return {
    account_id: id,
    user_ids: [...sessions.values()].map(({ userId }) => userId),
    brands: brands.size,
    dealflow_ids: [...dealflows.keys()],
    outreach_ids: [...outreaches.keys()],
    deals: deals.size,
    webhooks: webhooks.items.size,
    credits: describeCredits(world),
  };
}

export function describeCredits({ account }: World): object {
  return { search: account.credits.search(), reports: account.credits.reports() };
}

function describeWork(
  { account, clock }: World,
  dealId: string,
): { readonly status: number; readonly body: unknown } {
  const deal = account.deals.get(readDealId(dealId));
  if (deal === undefined) return refuse(404, 'There is no such deal.');
  const { id, isActive, funnelStep, notes, tasks } = deal;
  const dated = tasks.map((task) => ({ ...task, is_overdue: isPast(task.deadline, clock.now()) }));
  return {
    status: 200,
    body: { deal_id: id, is_active: isActive, funnel_step: funnelStep, notes, tasks: dated },
  };
}

/**
 * @returns true if the day is over, in UTC.
 * @param day DD-MM-YYYY.
 */
function isPast(day: string, nowMs: number): boolean {
  const [date, month, year] = day.split('-').map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, (date ?? 1) + 1) <= nowMs;
}

/** A row of the page "Your customers". The customer is queued until the result is due. */
function describeCustomer(
  { population, clock }: World,
  { email, brandId, sourceType, queuedAt, dueAt }: Customer,
): object {
  const row = {
    email,
    brand_id: brandId,
    source_type: sourceType,
    queued_at: new Date(queuedAt).toISOString(),
  };
  if (clock.now() < dueAt) return { ...row, status: 'queued' };
  const influencer = population.findByEmail(email);
  const result = influencer === null ? { is_influencer: false } : describeIdentified(influencer);
  return { ...row, status: 'done', ...result };
}

/** A customer that was submitted for identification. */
export type Customer = Omit<Enquiry, 'emails'> & { readonly email: string };

/** Lists the customers of all calls in the order of submission, each one once per brand. */
function* listCustomers({ enquiries }: Account): Generator<Customer> {
  const listed = new Set<string>();
  for (const { emails, ...enquiry } of enquiries.items.values()) {
    for (const text of emails) {
      const email = text.trim().toLowerCase();
      const id = `${enquiry.brandId} ${email}`;
      if (email === '' || listed.has(id)) continue;
      listed.add(id);
      yield { email, ...enquiry };
    }
  }
}
