import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { openAccount } from '../../src/sandbox/account/open-tenant.ts';
import { createAnswerer, type Request } from '../../src/sandbox/answer-request.ts';
import type { Answer, Session } from '../../src/sandbox/operations/operation.ts';
import { createRequestLog } from '../../src/sandbox/request-log.ts';
import { createMemoryStore } from '../../src/sandbox/state/state-store.ts';
import { type OperationName, operationNames, operationOf } from '../../src/service/contract.ts';
import { aboutExisting, drawInputs, toRequest, WEBHOOK } from './arbitrary-call.ts';
import { arbitraryNonsense, arbitraryOf } from './arbitrary-request.ts';
import { demoData, openQuietWorld } from './quiet-world.ts';

/**
 * Requests of each kind for each operation; 10,000 in the long form (`npm run test:campaigns -- sandbox`).
 */
const REQUESTS = Number(process.env.SANDBOX_REQUESTS ?? 2_000);
/** Each search examines thousands of influencers. */
const SLOW: readonly OperationName[] = ['get_search', 'database_influencers'];
const SLOW_REQUESTS = REQUESTS / 10;

let session: Session;

beforeEach(() => {
  const account = openAccount(demoData(), '1');
  account.credits.refill({ search: 100_000_000, reports: 1_000_000 });
  account.webhooks.set(`${WEBHOOK.webhook_type} ${WEBHOOK.webhook_url}`, WEBHOOK);
  const requestLog = createRequestLog([account], {
    stateStore: createMemoryStore(),
    file: null,
    notesOrders: false,
  });
  session = { world: openQuietWorld(account, requestLog), userId: 'U1', rateLimit: null };
});

function answererOf(name: OperationName): (request: Request) => Answer {
  const answer = createAnswerer(name, session);
  if (answer === null) throw new Error(`the sandbox has no ${name}`);
  return answer;
}

/**
 * Why a request that the contract allows may still be refused: the state, or a rule that the contract cannot
 * express.
 */
const REFUSALS: Partial<Record<OperationName, RegExp>> = {
  create_webhook: /already registered|user name/,
  delete_webhook: /no such webhook/,
};

test.each(operationNames)(
  '%s accepts what the contract allows',
  (name) => {
    const answer = answererOf(name);
    const { query, body, response } = operationOf(name);
    const schema = body ?? query;
    const inputs = drawInputs(name).map((input) => aboutExisting(name, input));
    let accepted = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const request = toRequest(name, input, session);
        fc.pre(
          schema === null || schema.safeParse(body === null ? request.query : request.body?.value).success,
        );
        const { status, body: said, isProcessed } = answer(request);
        const message = (said as { readonly message?: unknown }).message;
        if (status !== 200) {
          expect([status, message]).toEqual([
            expect.toSatisfy(isRefusal),
            expect.stringMatching(REFUSALS[name] ?? /^$/),
          ]);
          return;
        }
        accepted += 1;
        expect(isProcessed).toBe(true);
        expect(response.safeParse(JSON.parse(JSON.stringify(said))).error).toBeUndefined();
      }),
      { numRuns: SLOW.includes(name) ? SLOW_REQUESTS : REQUESTS },
    );
    expect(accepted).toBeGreaterThan(0);
  },
  120_000,
);

test.each(operationNames.filter((name) => (operationOf(name).body ?? operationOf(name).query) !== null))(
  '%s rejects what the contract forbids with status 400 and a reason, and changes nothing',
  (name) => {
    const answer = answererOf(name);
    const { query, body } = operationOf(name);
    const schema = body ?? query;
    if (schema === null) return;
    const before = snapshot();
    fc.assert(
      fc.property(arbitraryNonsense(schema), (input) => {
        const request = toRequest(name, input, session);
        const isAllowed = schema.safeParse(body === null ? request.query : request.body?.value).success;
        // Requests that happen to be allowed belong to the other test.
        if (isAllowed) return;
        const { status, body: said, isProcessed } = answer(request);
        expect([status, said, isProcessed]).toEqual([400, { message: expect.stringMatching(/\S/) }, false]);
      }),
      { numRuns: REQUESTS },
    );
    expect(snapshot()).toEqual(before);
  },
  120_000,
);

test.each(operationNames)(
  '%s answers any input with status 200 or 4xx',
  (name) => {
    const answer = answererOf(name);
    const { query, body } = operationOf(name);
    const schema = body ?? query;
    if (schema === null) return;
    fc.assert(
      fc.property(fc.oneof(arbitraryOf(schema), arbitraryNonsense(schema)), (input) => {
        const { status, body: said } = answer(toRequest(name, input, session));
        expect(status === 200 || isRefusal(status)).toBe(true);
        if (status !== 200) expect((said as { readonly message: string }).message).not.toBe('');
        JSON.stringify(said);
      }),
      { numRuns: SLOW.includes(name) ? SLOW_REQUESTS / 5 : REQUESTS / 5 },
    );
  },
  120_000,
);

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

/** Returns the state that a refused request must not change. */
function snapshot(): unknown {
  const { deals, webhooks, enquiries, submitted, seen, credits } = session.world.account;
  return [
    [...deals.values()].map(({ id, isActive, funnelStep, notes, tasks }) => [
      id,
      isActive,
      funnelStep,
      notes.length,
      tasks.length,
    ]),
    [webhooks.items.size, enquiries.items.size, submitted.items.size, seen.items.size],
    [credits.search(), credits.reports()],
  ];
}
