import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isLoopback as isLoopbackUrl } from '../core/http/is-loopback.ts';
import { webhookTypes } from '../service/contract/webhook-types.ts';
import { explainIssues } from '../service/explain-issues.ts';
import type { Account, Enquiry } from './account/account.ts';
import { readDealId } from './account/find-collaboration.ts';
import type { Tenant } from './account/open-tenant.ts';
import { createAnswerer } from './answer-request.ts';
import { type Clock, REAL_TIME } from './clock.ts';
import type { Context, Guard } from './context.ts';
import { isWebhookType, triggerEvent } from './events/trigger-event.ts';
import { type FaultRule, readFaultRules } from './faults.ts';
import type { LineLog } from './line-log.ts';
import { describeIdentified } from './operations/identify.ts';
import { type Answer, refuse, type Session, type World } from './operations/operation.ts';
import { addPages } from './pages.ts';
import { snapshot, takeSnapshot } from './state/snapshot.ts';

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
    server.get(
      `/_sandbox/log/${kind}`,
      { onRequest },
      ofTenants(context, (tenants, { reply }) =>
        sendLog(
          reply,
          requestLog[kind],
          tenants === context.tenants ? null : (tenants[0]?.world.account.id ?? null),
        ),
      ),
    );
  }

  server.get('/_sandbox/faults', { onRequest }, () => faults.list());
  server.delete('/_sandbox/faults', { onRequest }, () => {
    faults.clear();
    return faults.list();
  });
  server.post('/_sandbox/faults', { onRequest }, (request, reply) => {
    const read = readFaultRules(bodyOf(request));
    if (read.kind === 'problems') return send(reply, refuse(400, explainIssues(read.issues)));
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
  const lines = Readable.from(log.read(), { objectMode: false });
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

const credits = z.strictObject({ search: z.number().min(0).optional(), reports: z.int().min(0).optional() });

/** Adds the routes that do what people do in the service's web application, in one account. */
function addActionRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.post('/_sandbox/credits', { onRequest }, (request, reply) => {
    const read = credits.safeParse(bodyOf(request));
    if (!read.success) return send(reply, refuse(400, explainIssues(read.error.issues)));
    return ofTenant(context, ({ world }) => {
      world.account.credits.refill(read.data);
      context.stateStore.commit();
      return describeCredits(world);
    })(request, reply);
  });
  server.post(
    '/_sandbox/trigger/:kind',
    { onRequest },
    ofTenant(context, (tenant, { request, reply }) => {
      const answer = trigger(tenant, paramOf(request, 'kind'), bodyOf(request));
      context.stateStore.commit();
      return send(reply, answer);
    }),
  );
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

/** Large enough for the snapshot of a large account. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

const clockChange = z.strictObject({
  at: z.iso.datetime({ offset: true }).optional(),
  advance_seconds: z.number().min(0).max(3_200_000_000).optional(),
  stopped: z.boolean().optional(),
});

/** Adds the routes that change the time or state of the whole sandbox: clock, reset, snapshot and restore. */
function addTimeRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  const { clock, kept } = context;
  server.get('/_sandbox/clock', { onRequest }, () => describeClock(clock));
  server.post('/_sandbox/clock', { onRequest }, (request, reply) => {
    const read = clockChange.safeParse(bodyOf(request));
    if (!read.success) return send(reply, refuse(400, explainIssues(read.error.issues)));
    moveClock(clock, read.data);
    return reply.send(describeClock(clock));
  });
  server.delete('/_sandbox/clock', { onRequest }, () => {
    clock.set(REAL_TIME);
    return describeClock(clock);
  });

  server.post('/_sandbox/reset', { onRequest }, () => {
    context.reset();
    return { message: 'The sandbox is in its initial state.' };
  });
  server.get('/_sandbox/snapshot', { onRequest }, () => takeSnapshot(kept));
  server.post('/_sandbox/restore', { onRequest, bodyLimit: MAX_SNAPSHOT_BYTES }, (request, reply) => {
    const read = snapshot.safeParse(bodyOf(request));
    if (!read.success)
      return send(reply, refuse(400, `This is not a snapshot: ${explainIssues(read.error.issues)}`));
    const isOurs =
      read.data.seed === kept.seed && read.data.account_ids.join('\n') === kept.accountIds.join('\n');
    if (!isOurs)
      return send(
        reply,
        refuse(400, 'This snapshot belongs to a sandbox with another seed or other accounts.'),
      );
    context.restore(read.data);
    return reply.send({ message: 'The sandbox is in the state of the snapshot.' });
  });
}

/** Sets the clock to an instant, then advances it, then stops or starts it. */
function moveClock(clock: Clock, change: z.output<typeof clockChange>): void {
  const { aheadMs, stoppedAtMs } = clock.state();
  const isStopped = change.stopped ?? stoppedAtMs !== null;
  const machineMs = Date.now();
  const nowMs = change.at === undefined ? clock.now() : Date.parse(change.at);
  const ahead = change.at === undefined && stoppedAtMs === null ? aheadMs : nowMs - machineMs;
  clock.set({
    aheadMs: ahead + (change.advance_seconds ?? 0) * 1_000,
    stoppedAtMs: isStopped ? machineMs : null,
  });
}

function describeClock(clock: Clock): object {
  const { aheadMs, stoppedAtMs } = clock.state();
  return {
    now: new Date(clock.now()).toISOString(),
    ahead_seconds: aheadMs / 1_000,
    stopped: stoppedAtMs !== null,
  };
}

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
function addTrafficRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.get('/_sandbox/requests', { onRequest }, (request, reply) => {
    const read = search.safeParse(request.query);
    if (!read.success) return send(reply, refuse(400, explainIssues(read.error.issues)));
    return reply.send(context.journal.find(read.data));
  });

  server.get(
    '/_sandbox/events',
    { onRequest },
    ofTenants(context, (tenants, { reply }) => {
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, { 'content-type': 'application/x-ndjson' });
      raw.flushHeaders();
      const stop = context.stream.watch(({ accountId, kind, body }) => {
        const sender = tenants.find(({ world }) => world.account.id === accountId);
        if (sender === undefined) return;
        const headers = sender.signEvent(body);
        raw.write(`${JSON.stringify({ account_id: accountId, webhook_type: kind, headers, body })}\n`);
      });
      raw.on('close', stop);
      return undefined;
    }),
  );
  server.post(
    '/_sandbox/deliveries/:id/redeliver',
    { onRequest },
    ofTenant(context, ({ world }, { request, reply }) => {
      const delivery = world.events.redeliver(Number(paramOf(request, 'id')));
      context.stateStore.commit();
      if (delivery === null) return send(reply, refuse(404, 'There is no such delivery.'));
      const { id, webhook_type, webhook_url, redelivery_of } = delivery;
      return { id, webhook_type, webhook_url, redelivery_of };
    }),
  );
}

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
function addStateRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.get('/_sandbox/accounts', { onRequest }, () => context.tenants.map(describeTenant));
  for (const [name, list] of Object.entries(LISTS))
    server.get(
      `/_sandbox/${name}`,
      { onRequest },
      ofTenants(context, (tenants) => rowsOf(tenants, list)),
    );
  server.get(
    '/_sandbox/deliveries',
    { onRequest },
    ofTenants(context, (tenants, { reply }) => {
      const rows = rowsOf(tenants, ({ events }) => events.deliveries());
      return reply.type('application/x-ndjson').send(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }),
  );
  server.get(
    '/_sandbox/credits',
    { onRequest },
    ofTenant(context, ({ world }) => describeCredits(world)),
  );
  server.get(
    '/_sandbox/deals/:id',
    { onRequest },
    ofTenant(context, ({ world }, { request, reply }) =>
      send(reply, describeWork(world, paramOf(request, 'id'))),
    ),
  );
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

function describeCredits({ account }: World): object {
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
type Customer = Omit<Enquiry, 'emails'> & { readonly email: string };

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

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

/** Answers for the accounts of a control request: the one that `?account=<id>` names, or all. */
function ofTenants(
  context: Pick<Context, 'tenants'>,
  answerFor: (tenants: readonly Tenant[], exchange: Exchange) => unknown,
) {
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    // A reset or a restored snapshot replaces them.
    const { tenants } = context;
    const { account } = request.query as { readonly account?: string | readonly string[] };
    const found =
      account === undefined ? tenants : tenants.filter(({ world }) => world.account.id === account);
    return found.length > 0 || account === undefined
      ? answerFor(found, { request, reply })
      : send(reply, refuse(404, `There is no such account. There are: ${idsOf(tenants)}.`));
  };
}

/** Answers for the one account of a control request. If there are several, the request must name one. */
function ofTenant(
  context: Pick<Context, 'tenants'>,
  answerFor: (tenant: Tenant, exchange: Exchange) => unknown,
) {
  return ofTenants(context, ([tenant, other], exchange) =>
    tenant !== undefined && other === undefined
      ? answerFor(tenant, exchange)
      : send(
          exchange.reply,
          refuse(400, `Name the account with ?account=. There are: ${idsOf(context.tenants)}.`),
        ),
  );
}

function send(reply: FastifyReply, { status, body }: Pick<Answer, 'status' | 'body'>): FastifyReply {
  return reply.code(status).send(body);
}

function paramOf(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

function idsOf(tenants: readonly Tenant[]): string {
  return tenants.map(({ world }) => world.account.id).join(', ');
}
