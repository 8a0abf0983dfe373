import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobKinds } from '../../jobs/index.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { type FaultKind, type FaultyKind, faultyKinds, type Ran, runOnce } from './faulty-kinds.ts';

/** The pauses between attempts take a fiftieth of their time. */
const SPEED = 50;
const { setTimeout: sleep } = timers;

beforeAll(() => {
  const hurry = (ms: number, ...rest: unknown[]) => Reflect.apply(sleep, timers, [ms / SPEED, ...rest]);
  timers.setTimeout = hurry as typeof sleep;
  syncBuiltinESMExports();
});

afterAll(() => {
  timers.setTimeout = sleep;
  syncBuiltinESMExports();
});

type Fault = {
  readonly kind: FaultKind;
  readonly rule: Readonly<Record<string, unknown>>;
  readonly words?: RegExp;
};

const page = (status: number): Fault => ({ kind: 'unclear', rule: { kind: 'html', status } });
const canned = (body: unknown): Fault => ({ kind: 'unclear', rule: { kind: 'canned', body } });
const refusal = (status: number, kind: FaultKind = 'refused'): Fault => ({
  kind,
  rule: { kind: 'canned', status, body: { message: 'not with us' } },
  words: /not with us/,
});
const unclear = (rule: Fault['rule']): Fault => ({ kind: 'unclear', rule });

/** What the service does to each request of the job. */
const faults: Readonly<Record<string, Fault>> = {
  'answers 500 to everything': {
    ...unclear({ kind: 'error_before', text: 'oops' }),
    words: /HTTP 500: oops/,
  },
  'answers 500 to a few requests': { kind: 'few', rule: { kind: 'error_before', count: 4 } },
  'answers with a page': page(200),
  'answers nothing': unclear({ kind: 'empty' }),
  'answers with an error and 200': {
    ...canned({ error: 'the queue is full' }),
    kind: 'says_no',
    words: /the queue is full/,
  },
  'answers that it has no success': {
    ...canned({ success: false, message: 'full' }),
    kind: 'says_no',
    words: /full/,
  },
  'answers what no database can store': canned(
    '{"user_id":"\\u0000 \\ud800","deal_id":"\\u0000","total_added":"\\u0000"}',
  ),
  'answers with most of a megabyte': canned({ username: 'x'.repeat(500_000), deal_id: 'x'.repeat(500_000) }),
  redirects: { ...unclear({ kind: 'redirect' }), words: /HTTP 302/ },
  'never answers': unclear({ kind: 'stall_before' }),
  'resets the connection of what it does': unclear({ kind: 'reset_after' }),
  'asks to slow down': {
    kind: 'late',
    rule: { kind: '429', count: 12, retry_after: 0 },
    words: /429|slow down/,
  },
  'refuses the key after two requests': { kind: 'no_key', rule: { kind: '401', after: 2 }, words: /key/ },
  'is behind a gateway that answers 404': { ...page(404), words: /HTTP 404/ },
  'is behind a gateway that answers 413': { ...page(413), kind: 'too_large' },
  'refuses with 400': refusal(400),
  'refuses with 404': refusal(404, 'not_found'),
};

test('the table has every kind of job', () => {
  const kinds = jobKinds.map(({ kind }) => kind);
  expect(Object.keys(faultyKinds).toSorted()).toEqual(['backfill', ...kinds].toSorted());
});

/** All faults, or the first of each kind: the kinds of a ledger treat them alike. */
function faultsOf({ hasEveryFault = false, operations }: FaultyKind): readonly (readonly [string, Fault])[] {
  const all = Object.entries(faults);
  if (hasEveryFault) return all;
  const firsts = all.filter(
    ([, { kind }], index) => all.findIndex(([, other]) => other.kind === kind) === index,
  );
  return operations.length === 0 ? firsts.slice(0, 1) : firsts;
}

/** What is wrong with a run and the next one, in words. */
async function findWrong(
  kind: FaultyKind,
  [name, fault]: readonly [string, Fault],
): Promise<readonly string[]> {
  const shop = await openWorkshop({
    flow: kind.flow,
    api: kind.api ?? '',
    ...(kind.account !== undefined && { sandbox: { data: kind.account } }),
  });
  await kind.prepare(shop);
  for (const operation of kind.operations) await shop.sandbox.setFaults([{ operation, ...fault.rule }]);
  const run = kind.run ?? ((own) => runOnce(own, 'job', { isImpatient: name === 'never answers' }));
  const first = await run(shop);
  const isDone = new Set(await kind.seen(shop)).size === kind.goal;
  await shop.sandbox.setFaults(null);
  // The time of the next attempt has come.
  await sql`update ledger.entries set not_before = null where not_before is not null`.execute(shop.db);
  await sql`update mirror.known_deals set not_before = null where not_before is not null`.execute(shop.db);
  const second = await (kind.run ?? runOnce)(shop);
  const seen = await kind.seen(shop);

  const wrong: string[] = [];
  const check = (is: boolean, what: string) => void (is || wrong.push(what));
  const checkCounts = (run: Ran, which: string) => {
    check(run.sumsAddUp, `${which}: the sums do not add up`);
    const { all, open } = run.counts === null ? { all: kind.tasks, open: 1 } : kind.count(run.counts);
    check(all === kind.tasks, `${which}: ${all} of ${kind.tasks} are counted`);
    check(open === 0 || run.exitCode !== 0, `${which}: ${open} are open, and it ends with 0`);
    check(run.exitCode === 0 || run.said !== '', `${which}: it ends with ${run.exitCode} and says nothing`);
    return open;
  };
  const open = checkCounts(first, 'run');
  check(open > 0 || isDone, 'run: not everything was done, and nothing is open');
  const exit = kind.exits[fault.kind];
  check(
    first.exitCode === exit,
    `run: it ends with ${first.exitCode} instead of ${exit}: ${first.said.slice(0, 300)}`,
  );
  check(
    exit === 0 || (fault.words ?? /./).test(first.said),
    `run: the reason is missing: ${first.said.slice(0, 300)}`,
  );
  const openAfter = checkCounts(second, 'next run');
  const exitAfter = kind.exitsAfter[fault.kind] ?? 0;
  check(
    second.exitCode === exitAfter,
    `next run: it ends with ${second.exitCode} instead of ${exitAfter}: ${second.said.slice(0, 300)}`,
  );
  check(new Set(seen).size === seen.length, `something was done twice: ${seen.join(', ')}`);
  check(
    openAfter > 0 || seen.length === kind.goal,
    `next run: ${seen.length} of ${kind.goal} are done, and nothing is open`,
  );
  return wrong;
}

test.each(Object.entries(faultyKinds))(
  '%s counts what a fault kept it from doing, says why, and does it in the next run',
  async (_name, kind) => {
    // Half of the time would be pauses.
    const wrong = await Promise.all(
      faultsOf(kind).map(async (fault) => [fault[0], await findWrong(kind, fault)] as const),
    );
    expect(Object.fromEntries(wrong.filter(([, all]) => all.length > 0))).toEqual({});
  },
);
