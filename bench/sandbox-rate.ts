/**
 * Measures the speed of the sandbox: referrals compared with an empty fastify route that receives the same
 * bodies from the same sender in turn; a search over the population; and the start.
 */
import { sendLoad } from './load.ts';
import { describePairs, type Measurement, median, type Pair, pairOfRates, spreadOf } from './measure.ts';
import { startSandbox, startServer } from './sandbox.ts';

const PLATFORMS = ['instagram', 'tiktok', 'youtube'] as const;

/**
 * Filters that read much data of each influencer come first, so that no other filter excludes influencers
 * before them.
 */
const SIX_FILTERS = {
  text: 'a',
  gender: { code: 'FEMALE' },
  audience_gender: { code: 'FEMALE', weight: '0.2' },
  last_posted: '180',
  age: { left_number: '18', right_number: '60' },
  followers: { left_number: '1000' },
};

/** Number of rounds before the first one that counts, so that both variants are compiled. */
const WARM_UP_ROUNDS = 5;

export type RateCase = {
  /** Number of referrals per round. Short rounds expose both variants to the same noise of the machine. */
  readonly referrals: number;
  readonly connections: number;
  readonly rounds: number;
};

/** @returns sandbox ÷ empty route, in requests per second. */
export async function measureSandboxRate({ referrals, connections, rounds }: RateCase): Promise<Measurement> {
  const sandbox = await startSandbox([]);
  const empty = await startServer(new URL('./empty-route.ts', import.meta.url), []);
  const path = '/v1/crm/new_influencer_referral';
  const load = { path, connections, requests: referrals };
  try {
    const pairs: Pair[] = [];
    for (let round = 1 - WARM_UP_ROUNDS; round <= rounds; round += 1) {
      const bodyOf = (number: number): string => referralOf(`${round}-${number}`);
      const limit = await sendLoad({ ...load, ...empty, bodyOf });
      const ours = await sendLoad({ ...load, ...sandbox, bodyOf });
      if (round > 0) pairs.push(pairOfRates(ours, limit));
    }
    await expectReferrals(sandbox.url, referrals * (WARM_UP_ROUNDS + rounds));
    return describePairs(`referrals, ${connections} at a time`, pairs, ['referrals/s', 'requests/s']);
  } finally {
    sandbox.stop();
    empty.stop();
  }
}

/**
 * @returns milliseconds of a search over HTTP, one at a time. Omits the first search on each platform, which
 * creates its influencers.
 */
export async function measureSearch(searches: number): Promise<Measurement> {
  const sandbox = await startSandbox([]);
  try {
    const first: number[] = [];
    for (const platform of PLATFORMS) first.push((await search(sandbox, platform, 0)).milliseconds);
    const times: number[] = [];
    let total = 0;
    for (let number = 0; number < searches; number += 1) {
      const found = await search(sandbox, PLATFORMS[number % PLATFORMS.length] ?? 'instagram', number * 10);
      times.push(found.milliseconds);
      total += found.total;
    }
    return {
      name: 'search with six filters',
      unit: 'ms',
      value: median(times),
      detail: `${Math.round(total / searches)} found on average, ${Math.max(...times).toFixed(1)} ms at most, ${Math.max(...first).toFixed(0)} ms the first time`,
    };
  } finally {
    sandbox.stop();
  }
}

/**
 * @returns seconds from the start of the process to its first line. Omits the first run, which fills the
 * compile cache.
 */
export async function measureSandboxStart(runs: number): Promise<Measurement> {
  const seconds: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const sandbox = await startSandbox([]);
    sandbox.stop();
    if (run > 0) seconds.push(sandbox.startSeconds);
  }
  return { name: 'start of the sandbox', unit: 's', value: median(seconds), detail: spreadOf(seconds) };
}

function referralOf(orderId: string): string {
  return `{"influencer_handle":"mia.test","brand_id":4819,"order_id":"${orderId}","order_revenue":25.00,"order_platform":"shopify","order_discount_codes_used":"MIA10","currency":"EUR"}`;
}

/** Checks that every referral is in the request log. Otherwise the rate does not count. */
async function expectReferrals(url: string, expected: number): Promise<void> {
  const answer = await fetch(`${url}/_sandbox/health`);
  const { referrals } = (await answer.json()) as { readonly referrals: number };
  if (referrals !== expected) throw new Error(`${referrals} of ${expected} referrals are in the request log`);
}

async function search(
  sandbox: { readonly url: string; readonly key: string },
  platform: string,
  offset: number,
): Promise<{ readonly milliseconds: number; readonly total: number }> {
  const startedAt = performance.now();
  const answer = await fetch(`${sandbox.url}/v1/search/get_search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': sandbox.key },
    body: JSON.stringify({ platform, filter: SIX_FILTERS, offset }),
  });
  const text = await answer.text();
  const milliseconds = performance.now() - startedAt;
  if (answer.status !== 200) throw new Error(`a search was answered ${answer.status}: ${text}`);
  const { results } = JSON.parse(text) as { readonly results: { readonly total: number } };
  return { milliseconds, total: results.total };
}
