import { beforeEach, describe, expect, it } from 'vitest';
import type { OperationName } from '../../src/service/contract.ts';
import { type Answer, isAllowedToWrite, isRefusal, type Request, useService } from './service.ts';

/**
 * Sections States and transitions, Errors and Limits of the specification. These tests change data, so they
 * skip a live account.
 */
const service = useService();

type Members = Record<string, unknown>;

/** Calls an operation that must succeed. */
async function done(name: OperationName, request: Request = service.example(name)): Promise<Members> {
  const answer = await service.call(name, request);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as Members;
}

async function refused(name: OperationName, body: Members): Promise<Answer> {
  const answer = await service.call(name, { body });
  expect(answer, answer.text).toSatisfy(isRefusal);
  return answer;
}

async function makeDeal(more: Members = {}): Promise<string> {
  const handle = `maker.${Math.random().toString(36).slice(2)}.test`;
  const { body } = service.example('create_deal');
  const { deal_id } = await done('create_deal', { body: { ...body, influencer_handle: handle, ...more } });
  return String(deal_id);
}

async function readDeal(dealId: string): Promise<Members> {
  const { deal_info } = await done('get_deal_details', { query: { deal_id: dealId, return_collabs: true } });
  return deal_info as Members;
}

describe.runIf(isAllowedToWrite)('states and transitions', () => {
  let deal = '';
  beforeEach(async () => {
    deal = await makeDeal({ funnel_step: 2 });
  });

  it('a new deal exists at the given funnel step and under its page address', async () => {
    expect(await readDeal(deal)).toMatchObject({ id: deal, is_active: true, funnel_step: 2 });
    const { body } = service.example('create_deal');
    const answer = await done('create_deal', { body: { ...body, influencer_handle: 'page.maker.test' } });
    expect(answer.deal_page_url).toMatch(new RegExp(`/deal/${String(answer.deal_id)}$`));
    expect(await readDeal(String(answer.deal_page_url))).toMatchObject({ id: answer.deal_id });
  });

  it('update_dealstage moves a deal to the stage and returns whether capture was activated', async () => {
    const body = { deal_id: deal, new_stage: 5, dashboard_id: 'D_FSSI4P' };
    expect(await done('update_dealstage', { body })).toMatchObject({
      ugc_tracking_activated: expect.any(Boolean),
    });
    expect(await readDeal(deal)).toMatchObject({ funnel_step: 5 });
  });

  it('status_update_only changes only the active status', async () => {
    const before = await readDeal(deal);
    const change = { is_active: false, first_name: 'Other', funnel_step: 9 };
    const body = { deal_id: deal, new_deal_info: change, status_update_only: true };
    await done('update_deal_info', { body });
    expect(await readDeal(deal)).toEqual({ ...before, is_active: false });
  });

  it('clicks add up', async () => {
    const first = await done('new_influencer_click', { body: { deal_id: deal, increase_clicks: 2 } });
    const second = await done('new_influencer_click', {
      body: { collab_id: first.collab_id, increase_clicks: 3 },
    });
    expect(Number(second.new_clicks_value)).toBe(Number(first.new_clicks_value) + 3);
    expect(second.collab_id).toBe(first.collab_id);
  });

  it('brand_id selects one of several collaborations of a deal, and is then required', async () => {
    const click = { deal_id: 'BO27RFL9XE', increase_clicks: 1 };
    expect((await refused('new_influencer_click', click)).text).toContain('brand_id');
    const chosen = await Promise.all(
      [4819, 5207].map((brand_id) => done('new_influencer_click', { body: { ...click, brand_id } })),
    );
    expect(new Set(chosen.map(({ collab_id }) => collab_id)).size).toBe(2);
  });

  it('a referral is credited to the deal, whichever identifier names it', async () => {
    const order = { order_revenue: 12.5, order_platform: 'shopify', currency: 'EUR' };
    const ids = [{ deal_id: deal }, { deal_id: `https://app.example.test/deal/${deal}` }];
    for (const [index, named] of ids.entries()) {
      const body = { ...order, ...named, order_id: `${deal}-${index}` };
      expect(await done('new_influencer_referral', { body })).toMatchObject({ deal_id: deal });
    }
    expect(await readDeal(deal)).toMatchObject({ total_referrals: 2 });
  });

  it('a webhook is a pair of address and type: registered once, listed, deleted once', async () => {
    const body = { webhook_url: `https://hooks.example.com/${deal}`, webhook_type: 'new_max_bid' };
    await done('create_webhook', { body });
    expect((await refused('create_webhook', body)).status).toBe(409);
    const { webhooks } = await done('get_webhooks');
    expect(webhooks).toContainEqual(expect.objectContaining(body));
    await done('delete_webhook', { body });
    expect((await refused('delete_webhook', body)).status).toBe(400);
  });
});

describe.runIf(isAllowedToWrite)('error messages', () => {
  it.each([
    ['a brand that there is not', 'new_influencer_click', { deal_id: 'ETUNQ6ZTW1', brand_id: 1 }, /brand/i],
    ['a deal that there is not', 'create_note', { deal_id: 'NONE', note_description: 'x' }, /deal/i],
    [
      'an influencer that there is not',
      'new_influencer_click',
      { influencer_handle: 'nobody.test' },
      /found/i,
    ],
    [
      'a kind of event that there is not',
      'create_webhook',
      { webhook_url: 'https://a.example.com', webhook_type: 'x' },
      /webhook_type/,
    ],
  ] as const)('name the problem: %s', async (_what, name, body, words) => {
    expect((await refused(name, body)).text).toMatch(words);
  });

  it('reject a body that is too large, without a server error', async () => {
    const body = { deal_id: 'ETUNQ6ZTW1', note_description: 'x'.repeat(2 ** 21) };
    expect((await refused('create_note', body)).status).toBe(413);
  });

  it('reject a wrong HTTP method', async () => {
    expect(await service.call('create_note', { method: 'PUT', body: {} })).toSatisfy(isRefusal);
  });
});

describe.runIf(isAllowedToWrite)('limits', () => {
  it('a search returns ten results and costs one credit for each new influencer', async () => {
    const body = { platform: 'tiktok', filter: {}, offset: 0 };
    const first = await done('get_search', { body });
    const again = await done('get_search', { body });
    const next = await done('get_search', { body: { ...body, offset: 10 } });
    expect(first.shown_accounts).toHaveLength(10);
    expect(again.shown_accounts).toEqual(first.shown_accounts);
    expect(again.search_credits_left).toBe(first.search_credits_left);
    expect(spent(again, next)).toBeCloseTo(10, 6);
    const seen = new Set([first, next].flatMap(({ shown_accounts }) => shown_accounts as string[]));
    expect(seen.size).toBe(20);
  });

  it('concurrent searches charge each influencer once', async () => {
    const body = { platform: 'tiktok', filter: { is_verified: true }, offset: 30 };
    const before = await done('get_search', { body: { platform: 'tiktok', filter: {} } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => done('get_search', { body })));
    const least = answers.toSorted((one, other) => spent(before, other) - spent(before, one))[0] ?? {};
    expect(spent(before, least)).toBeLessThan(10.000_001);
  });

  it('a submission costs 0.04 credits for each added influencer, and counts and skips duplicates', async () => {
    const search = { body: { platform: 'youtube', filter: {} } };
    const { shown_accounts } = await done('get_search', search);
    const [one = '', two = '', three = ''] = shown_accounts as string[];
    const before = await done('get_search', search);
    const submit = { outreach_id: 'O_GIFTING', platform: 'youtube' };
    const added = await done('submit_influencers', { body: { ...submit, influencer_ids: [one, two, one] } });
    expect(added).toMatchObject({ total_added: 2, duplicates_ignored: 1, success: true });
    const again = await done('submit_influencers', { body: { ...submit, influencer_ids: [two, three] } });
    expect(again).toMatchObject({ total_added: 1, duplicates_ignored: 1 });
    expect(spent(before, await done('get_search', search))).toBeCloseTo(0.12, 6);
  });

  it('an analytics report stays the same when it is requested again', async () => {
    const { shown_accounts } = await done('get_search', { body: { platform: 'instagram', filter: {} } });
    const query = { user_id: (shown_accounts as string[])[0] };
    const { report } = await done('get_analytics_page', { query });
    expect(report).toBeTypeOf('object');
    expect(await done('get_analytics_page', { query })).toMatchObject({ report });
  });

  it.each([['2026-12-31'], ['31/12/2026'], ['1-1-2027'], ['32-01-2027'], ['29-02-2027']])(
    'a task is rejected with the deadline %s: the format is DD-MM-YYYY',
    async (deadline) => {
      const { body } = service.example('create_task');
      expect((await refused('create_task', { ...body, deadline })).text).toContain('deadline');
    },
  );

  it('code_perc is a number from 0 to 100', async () => {
    const { body } = service.example('create_deal');
    for (const code_perc of [-0.01, 100.01]) await refused('create_deal', { ...body, code_perc });
    for (const code_perc of [0, 100]) await makeDeal({ code_perc });
  });

  it('customers to identify are queued, and a single one is looked up at once', async () => {
    expect(await done('identify_influencers')).toMatchObject({ message: expect.stringMatching(/queued/) });
    expect(await done('identify_influencers_real_time')).toMatchObject({
      is_influencer: expect.any(Boolean),
    });
  });
});

/**
 * Returns the search credits spent between two answers. The answers report the remaining credits divided by
 * 50.
 */
function spent(before: Members, after: Members): number {
  return (Number(before.search_credits_left) - Number(after.search_credits_left)) * 50;
}
