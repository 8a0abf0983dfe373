import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { filterPlatforms } from '../../src/api/contract/search-filter.ts';
import { type OperationName, operationNames, operationOf } from '../../src/api/contract.ts';
import { createAccount } from '../../src/sandbox/account.ts';
import { createAnswerer, type Request } from '../../src/sandbox/answer-request.ts';
import { createEvents } from '../../src/sandbox/events/events.ts';
import type { Answer, World } from '../../src/sandbox/operations/operation.ts';
import { DEMO_ACCOUNT, readAccountData } from '../../src/sandbox/read-account-data.ts';
import type { Platform } from '../../src/sandbox/search/influencer.ts';
import { createPopulation, PLATFORMS } from '../../src/sandbox/search/population.ts';
import { createTruth } from '../../src/sandbox/truth.ts';
import { arbitraryNonsense, arbitraryOf } from './arbitrary-request.ts';
import { plainFilters } from './plain-filters.ts';

/** Requests of each kind for each operation; the searches ask thousands of influencers every time. */
const REQUESTS = 10_000;
const SLOW: readonly OperationName[] = ['get_search', 'database_influencers'];
const SLOW_REQUESTS = 1_000;

const KEY = 'key';
const population = createPopulation('1');
const [influencer] = population.of('instagram');

/** What exists, so that a request that fits the contract has something to work on. */
const EXISTING: Readonly<Record<string, unknown>> = {
  deal_id: 'ETUNQ6ZTW1',
  brand_id: 4819,
  dealflow_id: 'D_FSSI4P',
  dashboard_id: 'D_FSSI4P',
  outreach_id: 'O_GIFTING',
};

const WEBHOOK = { webhook_url: 'https://hooks.example.com/', webhook_type: 'new_max_bid' };

let world: World;

beforeEach(() => {
  const account = createAccount(readAccountData(DEMO_ACCOUNT), '1');
  account.credits.refill({ search: 100_000_000, reports: 1_000_000 });
  account.webhooks.set(`${WEBHOOK.webhook_type} ${WEBHOOK.webhook_url}`, WEBHOOK);
  world = {
    account,
    population,
    truth: createTruth(account, { file: null, notesOrders: false }),
    // Nobody is called: what an event does is tested with a real receiver.
    events: createEvents(account, {
      poster: { post: async () => ({ status: 200, error: null }), close() {} },
      retryMs: 1,
      appUrl: () => 'http://sandbox.test',
    }),
    duplicates: 'accept',
    identifyDelayMs: 0,
    allowsPrivateWebhooks: true,
    appUrl: () => 'http://sandbox.test',
  };
});

function answererOf(name: OperationName): (request: Request) => Answer {
  const answer = createAnswerer(name, world, { key: KEY, rateLimit: null });
  if (answer === null) throw new Error(`the sandbox has no ${name}`);
  return answer;
}

/** As it would come over the wire: a query is text throughout. */
function toRequest(name: OperationName, input: unknown): Request {
  if (operationOf(name).body === null) return { key: KEY, query: asText(input), body: null };
  const text = JSON.stringify(input);
  return { key: KEY, query: {}, body: { text, value: JSON.parse(text) } };
}

function asText(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return {};
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** The same request about things that exist; an e-mail address or an id that is optional is given. */
function aboutExisting(name: OperationName, input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const changed: Record<string, unknown> = { ...input };
  for (const [member, value] of Object.entries(EXISTING)) if (member in changed) changed[member] = value;
  const names = [
    'update_post_capture',
    'new_influencer_click',
    'new_influencer_referral',
    'get_deal_details',
  ];
  if (names.includes(name)) {
    delete changed.collab_id;
    delete changed.influencer_handle;
    changed.deal_id = EXISTING.deal_id;
  }
  switch (name) {
    case 'submit_influencers':
      return { ...changed, influencer_ids: [influencer?.userId], platform: 'instagram' };
    case 'get_analytics_page':
      return { user_id: influencer?.userId };
    case 'identify_influencers_real_time':
      return { ...changed, influencer_email: changed.influencer_email || 'a@example.com' };
    case 'create_task':
      return { ...changed, deadline: '29-02-2028' };
    case 'delete_webhook':
      return { ...changed, ...WEBHOOK };
    case 'update_dealstage':
      return { ...changed, new_stage: changed.new_stage ?? 1 };
    case 'update_deal_info':
      return {
        ...changed,
        new_deal_info: { is_active: true, first_name: JSON.stringify(changed.new_deal_info ?? '') },
      };
    default:
      return changed;
  }
}

/** What the contract allows; of searches, those whose filters apply to their platform and whose codes are known. */
function drawInputs(name: OperationName): fc.Arbitrary<unknown> {
  if (name === 'get_search') return fc.constantFrom(...PLATFORMS).chain(drawSearch);
  const schema = operationOf(name).body ?? operationOf(name).query;
  return schema === null ? fc.constant({}) : arbitraryOf(schema);
}

function drawSearch(platform: Platform): fc.Arbitrary<unknown> {
  const filters = Object.entries(plainFilters)
    .filter(([name]) => ((filterPlatforms[name] ?? PLATFORMS) as readonly string[]).includes(platform))
    .map(([name, { values }]) => [name, values as fc.Arbitrary<unknown>] as const);
  return fc.record(
    {
      platform: fc.constant(platform),
      filter: fc.record(Object.fromEntries(filters), { requiredKeys: [] }),
      offset: fc.nat(20),
      search_timestamp: fc.integer({ min: 0, max: 2 ** 31 }),
    },
    { requiredKeys: ['platform', 'filter'] },
  );
}

/** Why a request that the contract allows may still be refused: the state, or a rule that the contract cannot say. */
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
        const request = toRequest(name, input);
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
  '%s refuses what the contract forbids with a 4xx that says why, and changes nothing',
  (name) => {
    const answer = answererOf(name);
    const { query, body } = operationOf(name);
    const schema = body ?? query;
    if (schema === null) return;
    const before = snapshot();
    fc.assert(
      fc.property(arbitraryNonsense(schema), (input) => {
        const request = toRequest(name, input);
        const isAllowed = schema.safeParse(body === null ? request.query : request.body?.value).success;
        // What happens to be allowed is the other test's.
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
  '%s never breaks, whatever comes',
  (name) => {
    const answer = answererOf(name);
    const { query, body } = operationOf(name);
    const schema = body ?? query;
    if (schema === null) return;
    fc.assert(
      fc.property(fc.oneof(arbitraryOf(schema), arbitraryNonsense(schema)), (input) => {
        const { status, body: said } = answer(toRequest(name, input));
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

/** What a refused request must leave as it is. */
function snapshot(): unknown {
  const { deals, webhooks, customers, submitted, seen, credits } = world.account;
  return [
    [...deals.values()].map(({ id, isActive, funnelStep, notes, tasks }) => [
      id,
      isActive,
      funnelStep,
      notes.length,
      tasks.length,
    ]),
    [webhooks.items.size, customers.items.size, submitted.items.size, seen.items.size],
    [credits.search(), credits.reports()],
  ];
}
