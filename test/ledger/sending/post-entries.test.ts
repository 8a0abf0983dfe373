import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClaimedEntry, Outcome } from '../../../src/core/ledger.ts';
import { LedgerWentBack } from '../../../src/ledger/record.ts';
import { type PostDependencies, postEntries } from '../../../src/ledger/sending/post-entries.ts';
import { createRequestGate } from '../../../src/ledger/sending/request-gate.ts';
import { openSpool } from '../../../src/ledger/spool.ts';
import { setup } from '../../support/setup.ts';
import { insertEntry, readFacts, startWorker } from '../entries.ts';

const ACCEPTED: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const DOUBT: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const NOT_WRITTEN: Outcome = { kind: 'not_written', reason: 'connection refused' };

/** A ledger with orders that are ready, and a process that posts them. Each step is noted, with the order. */
async function openPosting(
  orderIds: readonly string[],
  answer: (orderId: string) => Outcome = () => ACCEPTED,
) {
  const { db, folder } = await setup();
  const { owner, runId, claim, record } = await startWorker(db);
  const orderOf = new Map<string, string>();
  for (const orderId of orderIds) orderOf.set(await insertEntry(db, { runId, orderId }), orderId);
  const ids = [...orderOf.keys()];
  const steps: string[] = [];
  const note = (step: string, entryId: string) => void steps.push(`${step} ${orderOf.get(entryId)}`);
  let isLeaseHeld = true;
  const gate = createRequestGate({
    concurrency: 8,
    probe: async () => true,
    onWait: () => {},
    isLeaseHeld: () => isLeaseHeld,
  });
  const spoolFolder = join(folder, 'spool');
  const dependencies: PostDependencies = {
    async claim(entryId) {
      const entry = await claim(entryId);
      note(entry === null ? 'not claimed' : 'claimed', entryId);
      return entry;
    },
    async send({ entryId }: ClaimedEntry) {
      note('sent', entryId);
      return answer(orderOf.get(entryId) ?? '');
    },
    async record(given) {
      note('recorded', given.entryId);
      return record(given);
    },
    spool: openSpool(spoolFolder, owner),
    journal: {
      writing: async ({ entryId }) => note('writing', entryId),
      answered: ({ entryId }) => note('answered', entryId),
    },
    gate,
    onOutcome: ({ kind }) => void steps.push(kind),
  };
  async function* pages() {
    for (const entryId of ids) yield [entryId];
  }
  return {
    db,
    gate,
    steps,
    ids,
    spoolFolder,
    loseLease: () => {
      isLeaseHeld = false;
    },
    post: (replaced: Partial<PostDependencies> = {}) =>
      postEntries(pages(), { ...dependencies, ...replaced }),
    facts: async () => Promise.all(ids.map((entryId) => readFacts(db, entryId))),
    waiting: () => db.selectFrom('ledger.entries').select(['state', 'state_reason', 'not_before']).execute(),
  };
}

it('an entry is claimed, noted, sent once and recorded, in this order; a doubt is not sent again', async () => {
  const { steps, post, facts, gate } = await openPosting(['a', 'b'], (id) => (id === 'a' ? ACCEPTED : DOUBT));
  await post();
  const of = (orderId: string) => steps.filter((step) => step.endsWith(` ${orderId}`));
  for (const orderId of ['a', 'b'])
    expect(of(orderId)).toEqual(
      ['claimed', 'writing', 'sent', 'answered', 'recorded'].map((step) => `${step} ${orderId}`),
    );
  expect(steps.filter((step) => !step.includes(' ')).sort()).toEqual(['accepted', 'in_doubt']);
  expect((await facts()).map(({ state }) => state)).toEqual(['accepted', 'in_doubt']);
  expect([gate.stopped(), gate.unfinished()]).toEqual([null, null]);
});

it('a request that was not processed is sent again three times, each time later, and then waits for another run', async () => {
  const begun = performance.now();
  let sent = 0;
  const { post, facts, waiting, gate } = await openPosting(['a', 'b'], (id) => {
    if (id === 'a') return NOT_WRITTEN;
    sent += 1;
    return sent < 3 ? { kind: 'throttled', httpStatus: 429, retryAfterMs: 0 } : ACCEPTED;
  });
  await post();
  expect(performance.now() - begun).toBeGreaterThan(500 + 1_000 + 2_000);
  expect(await facts()).toMatchObject([
    { state: 'ready', attempt: 4, notSent: 4 },
    { state: 'accepted', attempt: 3, notSent: 2 },
  ]);
  const [unsent] = (await waiting()).filter(({ state }) => state === 'ready');
  expect(unsent?.state_reason).toBe('connection refused');
  expect(gate.stopped()).toBeNull();
  expect(gate.unfinished()).toMatchObject({
    kind: 'unanswered',
    message: expect.stringContaining(
      'One request got no clear answer, not even when repeated (connection refused)',
    ),
  });
});

it('an entry that another process has claimed is left to it', async () => {
  const { db, ids, steps, post, gate } = await openPosting(['a', 'b']);
  const other = await startWorker(db);
  await other.claim(ids[0] ?? '');
  await post();
  expect(steps).toContain('not claimed a');
  expect(steps).not.toContain('sent a');
  expect(steps).toContain('sent b');
  expect(gate.unfinished()).toBeNull();
});

it.each([
  ['the database is gone', new Error('no connection'), { kind: 'database_lost', message: 'no connection' }],
  ['the database lacks claims', new LedgerWentBack(), { kind: 'ledger_went_back' }],
])('nothing more is sent once %s when an entry is claimed', async (_, error, stop) => {
  const { steps, post, facts, gate } = await openPosting(['a', 'b', 'c', 'd']);
  await post({ claim: () => Promise.reject(error) });
  expect(steps).toEqual([]);
  expect(gate.stopped()).toMatchObject(stop);
  for (const { state, attempt } of await facts()) expect([state, attempt]).toEqual(['ready', 0]);
});

it('an answer that the database does not take is kept in the spool, and nothing more is claimed', async () => {
  const { ids, steps, post, gate, spoolFolder } = await openPosting(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  await post({ record: () => Promise.reject(new Error('no connection')) });
  expect(gate.stopped()).toEqual({ kind: 'database_lost', message: 'no connection' });
  const sent = steps.filter((step) => step.startsWith('sent '));
  expect(sent.length).toBeLessThan(ids.length);
  const [name = ''] = readdirSync(spoolFolder);
  const spooled = readFileSync(join(spoolFolder, name), 'utf8').trimEnd().split('\n');
  expect(spooled).toHaveLength(sent.length);
  expect(JSON.parse(spooled[0] ?? '')).toMatchObject({
    entryId: ids[0],
    attempt: 1,
    outcome: ACCEPTED,
    backoffMs: 0,
    claim: { claimNo: expect.stringMatching(/^\d+$/) },
  });
});

it('a claimed entry is not sent if its journal cannot be written: it is ready again, and the run stops', async () => {
  const { steps, post, facts, waiting, gate } = await openPosting(['a']);
  await post({ journal: { writing: () => Promise.reject(new Error('disk full')), answered: () => {} } });
  expect(steps).toEqual(['claimed a', 'recorded a', 'not_written']);
  expect(gate.stopped()).toEqual({ kind: 'journal_lost', message: 'disk full' });
  expect(await facts()).toMatchObject([{ state: 'ready', attempt: 1, notSent: 1 }]);
  expect((await waiting())[0]?.state_reason).toBe('its journal could not be written');
});

it.each(['claimed', 'noted'] as const)(
  'an entry whose lease is lost once it is %s is not sent, and waits for nobody',
  async (when) => {
    const { db, steps, ids, post, facts, waiting, loseLease, gate } = await openPosting(['a']);
    const { claim } = await startWorker(db);
    await post({
      async claim(entryId) {
        const entry = await claim(entryId);
        if (when === 'claimed') loseLease();
        return entry;
      },
      journal: {
        async writing() {
          steps.push('writing');
          loseLease();
        },
        answered: () => {},
      },
    });
    expect(steps).toEqual([...(when === 'noted' ? ['writing'] : []), 'recorded a', 'not_written']);
    expect(await facts()).toMatchObject([{ state: 'ready', attempt: 1, notSent: 1 }]);
    const [entry] = await waiting();
    expect(entry?.state_reason).toBe('the run was ending');
    expect(entry?.not_before?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await (await startWorker(db)).claim(ids[0] ?? '')).toMatchObject({ attempt: 2 });
    expect(gate.stopped()).toMatchObject({ kind: 'lease_lost' });
  },
);

it('as many requests are on the wire as the gate allows, and half as many entries are claimed or recorded beside them', async () => {
  const orders = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const { steps, post, gate } = await openPosting(orders);
  let [onWire, most, mostTaken] = [0, 0, 0];
  const answers: (() => void)[] = [];
  const count = (step: string) => steps.filter((one) => one.startsWith(step)).length;
  const posting = post({
    async send({ entryId }) {
      steps.push(`sent ${entryId}`);
      onWire += 1;
      most = Math.max(most, onWire - gate.concurrency());
      mostTaken = Math.max(mostTaken, count('claimed') - count('recorded'));
      await new Promise<void>((resolve) => answers.push(resolve));
      onWire -= 1;
      return DOUBT;
    },
  });
  expect(gate.concurrency()).toBe(2);
  await expect.poll(() => [count('claimed'), onWire]).toEqual([3, 2]);
  // Each doubt halves what may be in flight, down to one.
  for (let left = 4; left > 0; left -= 1) {
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    answers.shift()?.();
    await expect.poll(() => count('recorded')).toBe(5 - left);
  }
  expect(gate.concurrency()).toBe(1);
  expect(most).toBe(0);
  expect(mostTaken).toBeLessThanOrEqual(3);
  gate.stop({ kind: 'drained' });
  for (const answer of answers) answer();
  await posting;
  expect(count('claimed')).toBe(count('recorded'));
});

it('a bug in a step ends the posting with its error, after the other entries have ended', async () => {
  const { post, gate } = await openPosting(['a']);
  await expect(
    post({
      onOutcome: () => {
        throw new TypeError('a bug');
      },
    }),
  ).rejects.toThrow('a bug');
  expect(gate.stopped()).toMatchObject({ kind: 'unavailable' });
});

it('an error that nothing foresaw ends the run, and the entry is not tried again', async () => {
  const { steps, post, facts } = await openPosting(['a']);
  const fault = new TypeError('a fault of the program');
  await expect(post({ send: () => Promise.reject(fault) })).rejects.toBe(fault);
  expect(steps).toEqual(['claimed a', 'writing a']);
  expect(await facts()).toMatchObject([{ state: 'sending' }]);
});
