import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { registerAccounts } from '../../src/sandbox/account/open-tenant.ts';
import { createAnswerer } from '../../src/sandbox/answer-request.ts';
import type { Answer, Session } from '../../src/sandbox/operations/operation.ts';
import { createRequestLog } from '../../src/sandbox/request-log.ts';
import { createMemoryStore } from '../../src/sandbox/state/state-store.ts';
import { type OperationName, operationNames } from '../../src/service/contract.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { aboutExisting, drawInputs, toRequest } from './arbitrary-call.ts';
import { demoData, openQuietWorld } from './quiet-world.ts';

/** A request to one of two accounts. */
type Step = { readonly who: 0 | 1; readonly name: OperationName; readonly input: unknown };

const SEQUENCES = propertyRuns(50);
const STEPS = 25;

beforeEach(() => {
  // Answers contain the time, and nothing here waits for the clock.
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-05-01T10:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Opens two accounts with the same brands, deals, codes and campaigns, so that only the key identifies the
 * account.
 */
function openPair(): readonly Session[] {
  const registered = registerAccounts([demoData(), demoData()], {
    seed: '1',
    stateStore: createMemoryStore(),
    key: undefined,
    webhookSecret: undefined,
  });
  const accounts = registered.map(({ account }) => account);
  const requestLog = createRequestLog(accounts, {
    stateStore: createMemoryStore(),
    file: null,
    notesOrders: false,
  });
  return accounts.map((account, index) => ({
    world: openQuietWorld(account, requestLog),
    userId: `U${index}`,
    rateLimit: null,
  }));
}

/**
 * Sends the steps of the accounts that `isLet` permits.
 * @returns the answers to each account, and its complete state afterwards.
 */
async function play(steps: readonly Step[], isLet: (who: number) => boolean): Promise<readonly unknown[]> {
  const sessions = openPair();
  const answers: Answer[][] = [[], []];
  for (const { who, name, input } of steps) {
    const session = sessions[who];
    if (session === undefined || !isLet(who)) continue;
    const answer = createAnswerer(name, session)?.(toRequest(name, input, session));
    if (answer !== undefined) answers[who]?.push(answer);
  }
  return Promise.all(
    sessions.map(async (session, who) => ({ answers: answers[who], has: await allOf(session) })),
  );
}

async function allOf({ world: { account, events, requestLog } }: Session): Promise<unknown> {
  const { deals, collaborations, webhooks, enquiries, submitted, seen, reports, orders, store, credits } =
    account;
  const lines = await Promise.all(
    [requestLog.referrals, requestLog.clicks].map((log) => Array.fromAsync(log.read())),
  );
  return JSON.parse(
    JSON.stringify({
      deals: [...deals.values()].map((deal) => ({ ...deal, collaborations: deal.collaborations.length })),
      collaborations: [...collaborations.values()].map(({ deal, sales, ...rest }) => ({
        ...rest,
        deal: deal.id,
        sales: [...sales].map(([currency, { units, scale }]) => [currency, String(units), scale]),
      })),
      shelves: [webhooks, enquiries, submitted, seen, reports, orders, store].map(({ items }) => [...items]),
      credits: [credits.search(), credits.reports()],
      // In a log of all accounts, the position of a line depends on the others, but its text must not.
      requestLog: lines.map((chunks) =>
        Buffer.concat(chunks)
          .toString()
          .split('\n')
          .filter((line) => line.includes(`"account_id":"${account.id}"`))
          .map((line) => line.replace(/^\{"sequence":\d+/, '')),
      ),
      deliveries: [...events.deliveries()].map(({ webhook_url, body }) => [webhook_url, body]),
    }),
  );
}

/** The handle of a deal that both accounts have from the start, and one that either may create. */
const HANDLES = ['mira.glow.test', 'new.maker.test'] as const;
const BY_HANDLE: readonly OperationName[] = [
  'get_deal_details',
  'new_influencer_click',
  'new_influencer_referral',
];

/** Changes the input to name a handle, which may exist in one account only. */
function aboutHandle(name: OperationName, input: unknown, handle: string): unknown {
  if (name === 'autocomplete') return { q: handle };
  if (name === 'create_deal') return { ...(input as object), influencer_handle: handle };
  if (!BY_HANDLE.includes(name)) return input;
  const { deal_id: _d, collab_id: _c, ...rest } = input as Readonly<Record<string, unknown>>;
  return { ...rest, influencer_handle: handle };
}

function steps(): fc.Arbitrary<readonly Step[]> {
  const step = fc
    .tuple(
      fc.constantFrom(...operationNames),
      fc.constantFrom(0 as const, 1 as const),
      fc.constantFrom(null, ...HANDLES),
    )
    .chain(([name, who, handle]) =>
      drawInputs(name).map((drawn) => {
        const input = aboutExisting(name, drawn);
        return { who, name, input: handle === null ? input : aboutHandle(name, input, handle) };
      }),
    );
  return fc.array(step, { maxLength: STEPS, size: 'max' });
}

test('any requests of two accounts yield the same answers and state as each account alone', async () => {
  let done = 0;
  await fc.assert(
    fc.asyncProperty(steps(), async (drawn) => {
      const [one, other] = await play(drawn, () => true);
      const [alone] = await play(drawn, (who) => who === 0);
      const [, otherAlone] = await play(drawn, (who) => who === 1);
      expect(one).toEqual(alone);
      expect(other).toEqual(otherAlone);
      done += ((one as { answers: Answer[] }).answers ?? []).filter(({ isProcessed }) => isProcessed).length;
    }),
    { numRuns: SEQUENCES },
  );
  // Refused requests alone would prove nothing.
  expect(done).toBeGreaterThan(SEQUENCES);
});
