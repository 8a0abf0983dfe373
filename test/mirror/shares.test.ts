import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mirrorAccount } from '../../jobs/mirror-account/index.ts';
import type { Spread, UnitEnd, UnitPayload } from '../../src/core/work.ts';
import { performUnit, type UnitSite } from '../../src/runs/workers/unit-run.ts';
import type { UnitOutcome, UnitsOf } from '../../src/runs/workers/units.ts';
import { createClient } from '../../src/service/client.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { configOf, dealHistory, knowDeals, openStory, rowsOf, SETTINGS, type Story } from './story.ts';
import { dealRecord } from './stub-service.ts';

/** Two shares of 60 deals for one place. */
const DEALS = 120;

describe('deals that are read in shares', () => {
  it('are published together once all shares are read, each requested once', async () => {
    const story = await openShares();
    const { finished } = await story.run(
      {},
      spreadOver(story, (unit) => unit.perform()),
    );
    expect(finished.counts).toMatchObject({ published: true, requests: DEALS + 2, deals: { new: DEALS } });
    expect(new Set(story.service.askedDeals()).size).toBe(DEALS);
    expect(story.service.askedDeals()).toHaveLength(DEALS);
  });

  it('cost no more requests than the budget of the run, whatever has to be repeated', async () => {
    const story = await openShares();
    let answers = 0;
    story.service.override = ({ path }) =>
      path.endsWith('get_deal_details') && THROTTLED.includes(answers++)
        ? { status: 429, headers: { 'retry-after': '0' }, body: { message: 'slow down' } }
        : null;
    const budget = DEALS + 3;
    const { finished } = await story.run(
      { budget },
      spreadOver(story, (unit) => unit.perform()),
    );
    expect(finished.counts).toMatchObject({ published: true, requests: budget });
    expect(story.service.askedDeals()).toHaveLength(DEALS + 1);
    expect(finished.counts).toMatchObject({ deals: { new: DEALS - 3 }, deals_unread: 3 });
  });

  it('are those never read and those read longest ago, if the budget is smaller', async () => {
    const story = await openShares();
    await story.run(
      { budget: 72 },
      spreadOver(story, (unit) => unit.perform()),
    );
    const first = story.service.askedDeals().slice();
    expect(first).toHaveLength(70);
    await story.run(
      { budget: 102 },
      spreadOver(story, (unit) => unit.perform()),
    );
    const second = story.service.askedDeals().slice(70);
    expect(second).toHaveLength(100);
    expect(second.filter((dealId) => first.includes(dealId))).toHaveLength(50);
  });

  it('are read by the run if no worker has read them', async () => {
    const story = await openShares();
    const { finished } = await story.run(
      {},
      spreadOver(story, (unit, index) => (index === 1 ? LEFT : unit.perform())),
    );
    expect(finished.counts).toMatchObject({ published: true, requests: DEALS + 2, deals: { new: DEALS } });
    expect(story.service.askedDeals()).toHaveLength(DEALS);
  });

  it('are not requested again by a second attempt if the first has staged them', async () => {
    const story = await openShares();
    const { finished } = await story.run(
      {},
      spreadOver(story, async (unit, index) => {
        if (index === 1) await unit.perform({ budget: 30 });
        return unit.perform();
      }),
    );
    expect(finished.counts).toMatchObject({ published: true, requests: DEALS + 2, deals: { new: DEALS } });
    expect(story.service.askedDeals()).toHaveLength(DEALS);
  });

  it('are not published if a share was given up: the others are read, and nothing changes or is gone until the next run has read the rest', async () => {
    const story = await openShares();
    await story.run();
    await sql`update mirror.known_deals set read_at = read_at - interval '2 days'`.execute(story.db);
    const before = await dealHistory(story.db);
    for (const [id, deal] of story.service.deals) story.service.deals.set(id, { ...deal, is_active: false });
    story.service.deals.delete('D0');
    story.service.questions.length = 0;
    const { exitCode, finished } = await story.run(
      DAILY,
      spreadOver(story, (unit, index) => (index === 0 ? GIVEN_UP : unit.perform())),
    );
    expect([exitCode, finished]).toMatchObject([1, { status: 'failed', counts: { published: false } }]);
    expect(story.service.askedDeals()).toHaveLength(60);
    expect(await dealHistory(story.db)).toEqual(before);
    expect(await rowsOf(story.db, 'select from mirror.publications')).toHaveLength(1);
    expect(await rowsOf(story.db, "select from mirror.staged where record_kind = 'deal'")).toHaveLength(60);
    const next = await story.run(DAILY);
    expect(next.finished.counts).toMatchObject({
      published: true,
      deals: { changed: DEALS - 1, failed: 1, gone: 0, asked: DEALS },
    });
    expect(story.service.askedDeals()).toHaveLength(DEALS);
  });

  it('are not published if the service refuses the key of a worker', async () => {
    const story = await openShares();
    story.service.override = ({ path, query }) =>
      path.endsWith('get_deal_details') && query.deal_id === 'D60' ? { status: 401, body: {} } : null;
    const { exitCode } = await story.run(
      {},
      spreadOver(story, (unit) => unit.perform()),
    );
    expect(exitCode).toBe(4);
    expect(await rowsOf(story.db, 'select from mirror.publications')).toEqual([]);
    expect(await rowsOf(story.db, 'select from mirror.deal_versions')).toEqual([]);
  });

  it('end the run with what the service said, also if the run is told to stop while other shares are read', async () => {
    const story = await openShares();
    story.service.override = ({ path }) =>
      path.endsWith('get_deal_details') ? { status: 401, body: {} } : null;
    const told = new AbortController();
    const spread = spreadOver(story, (unit) => unit.perform());
    const { exitCode } = await story.run(
      {},
      (of) => (options) => spread(of)(options).finally(() => told.abort()),
      told.signal,
    );
    expect(exitCode).toBe(4);
  });

  it('are not read by a worker that has the key of another account', async () => {
    const story = await openShares();
    const run = story.run(
      {},
      spreadOver(story, (unit) => unit.perform({ accountId: 'ACC2' })),
    );
    await expect(run).rejects.toMatchObject({ details: { code: 'worker_differs' } });
    expect(story.service.askedDeals()).toEqual([]);
    expect(await rowsOf(story.db, 'select from mirror.publications')).toEqual([]);
  });
});

const DAILY = { refreshAfterHours: 20 };

/** Answers that ask to slow down: one in the first share, three in the second. */
const THROTTLED = [10, 70, 71, 90];

const LEFT: UnitEnd = { kind: 'left' };
const GIVEN_UP: UnitEnd = { kind: 'given_up', message: 'Its worker ended without a result 3 times.' };

type SpreadUnit = {
  /** Performs the unit as a worker does, with a changed payload if one is given. */
  readonly perform: (changes?: UnitPayload) => Promise<UnitEnd>;
};

/** Hands out the units of a run to this process, one after the other. The test decides how each one ends. */
function spreadOver(
  { db, folder, service }: Story,
  end: (unit: SpreadUnit, index: number) => UnitEnd | Promise<UnitEnd>,
): (of: UnitsOf) => Spread {
  const key = 'key-of-the-stub';
  const client = createClient({
    url: service.url,
    key,
    connections: 8,
    timeoutMs: 20_000,
    connectTimeoutMs: 10_000,
  });
  const sourceClients = openSourceClients();
  onTestFinished(async () => {
    sourceClients.close();
    await client.close();
  });
  const site: UnitSite = {
    db,
    client,
    sourceClients,
    config: configOf(folder, service.url, SETTINGS),
    onTarget() {},
    findJob: () => ({ job: SETTINGS, kind: mirrorAccount as never }),
  };
  return ({ runId, job }) =>
    async ({ kind, cut, onEnd, onProgress, signal }) => {
      const payloads = await cut(1);
      const ends = payloads.map(() => LEFT);
      for (const [index, payload] of payloads.entries()) {
        const perform: SpreadUnit['perform'] = async (changes) => {
          const unit = { unitId: String(index), runId, job, kind, payload: { ...payload, ...changes } };
          return toEnd(await performUnit(site, { unit, signal, advance: onProgress, isRunHeld: () => true }));
        };
        const ended = await end({ perform }, index);
        ends[index] = ended;
        if (ended.kind !== 'left' && onEnd(ended)) break;
      }
      return ends;
    };
}

function toEnd({ state, outcome }: UnitOutcome): UnitEnd {
  if (state === 'done') return { kind: 'done', result: outcome };
  return state === 'failed' ? { kind: 'failed', problem: outcome } : LEFT;
}

/** Opens a story with many deals, of which none is read yet. */
async function openShares(): Promise<Story> {
  const story = await openStory();
  const ids = Array.from({ length: DEALS }, (_, index) => `D${index}`);
  for (const id of ids) story.service.deals.set(id, dealRecord(id));
  await knowDeals(story.db, ids);
  return story;
}
