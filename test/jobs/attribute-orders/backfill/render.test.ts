import { expect, it } from 'vitest';
import {
  backfillDid,
  describeBackfillEnd,
  describeBackfills,
  describeChanges,
  describePlan,
  paceOf,
} from '../../../../jobs/attribute-orders/backfill/render.ts';
import type { BackfillProgress } from '../../../../jobs/attribute-orders/backfill/report.ts';
import type { Backfill, PlanGroup } from '../../../../src/core/backfill.ts';
import type { Block } from '../../../../src/render/block.ts';
import { renderBlocks } from '../../../../src/render/render-blocks.ts';
import { plainTerminal } from '../../../../test/support/plain-terminal.ts';

const text = (blocks: readonly Block[]) =>
  renderBlocks(blocks, plainTerminal(160))
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, '  '))
    .filter((line) => line !== '');

/** The colours in which parts of it are shown, in their order. */
const tones = (blocks: readonly Block[]) =>
  [...JSON.stringify(blocks).matchAll(/"tone":"(\w+)"/g)].map(([, tone]) => tone);

const group = (change: Partial<PlanGroup> = {}): PlanGroup => ({
  month: '2025-05',
  standing: 'to_post',
  reason: null,
  currency: 'EUR',
  orders: 1,
  amount: '10.0000',
  ...change,
});

const BACKFILL: Backfill = {
  backfillId: '7',
  job: 'orders',
  state: 'planned',
  planHash: '0123456789abcdef',
  runId: '3',
  period: { fromDay: '2025-05-01', toDay: '2025-06-30', timeZone: 'Europe/Amsterdam' },
  plan: {
    files: [{ source: 'shop', uri: 'a.csv', version: '1', orders: 1 }],
    groups: [group()],
    ofTheRuns: 0,
    undated: 0,
  },
  requestsPerSecond: null,
  concurrency: null,
  plannedAt: new Date('2026-04-01T10:00:00Z'),
  approvedBy: null,
  approvedAt: null,
  problem: null,
};
const PROGRESS: BackfillProgress = {
  planned: 12,
  accepted: 10,
  toPost: 2,
  rejected: 0,
  inDoubt: 0,
  held: 0,
  answersLastMinute: 0,
  amounts: [{ currency: 'EUR', accepted: '104.0000' }],
  process: null,
};
const PROCESS = { host: 'here', pid: 9 };

it('a plan says what becomes of each order, what is posted in each month, and how to execute it', () => {
  const groups = [
    group({ orders: 2, amount: '20.0000' }),
    group({ month: '2025-06', currency: 'USD', amount: '5.0000' }),
    group({ standing: 'already' }),
    group({ standing: 'held', reason: 'unknown_status', amount: '0' }),
    group({ month: '2025-06', standing: 'excluded', reason: 'cancelled' }),
    group({ month: '2025-06', standing: 'excluded', reason: 'fully_refunded' }),
  ];
  const backfill = { ...BACKFILL, plan: { ...BACKFILL.plan, groups, ofTheRuns: 1, undated: 2 } };
  const plan = (backfill: Backfill, requestsPerSecond = 2, isKept = true) =>
    text(describePlan(backfill, { requestsPerSecond, isKept }));
  expect(plan(backfill)).toEqual([
    'Backfill 7 of orders, 2025-05-01 to 2025-06-30 (Europe/Amsterdam): a plan; nothing was sent',
    '7 orders in the period, in 1 file:',
    'to be posted  3  20.00 EUR, 5.00 USD',
    'already known  1  credited before; not posted again',
    'excluded  2  cancelled 1, fully refunded 1',
    'held  1  unknown status 1',
    '1 order in the period was placed on or after start_date. The runs of the job credit it.',
    '2 orders in the exports have no date, and belong to no period.',
    'By month',
    'month  to post  known  others  revenue to post',
    '2025-05  2  1  1  20.00 EUR',
    '2025-06  1  0  2  5.00 USD',
    '3 calls, 2 s at 2 a second, if no run is active.',
    'plan 0123456789ab',
    '# to execute exactly this',
    'npx influencer-sync backfill resume 7',
  ]);
  expect(plan(backfill, 0, false).slice(-4)).toEqual([
    '3 calls.',
    'plan 0123456789ab',
    '# to plan it again and execute it',
    'npx influencer-sync backfill orders --from 2025-05-01 --to 2025-06-30',
  ]);
  const empty = { ...BACKFILL.plan, groups: [], ofTheRuns: 2, undated: 1 };
  expect(plan({ ...BACKFILL, plan: empty }).slice(2)).toEqual([
    'to be posted  0',
    '2 orders in the period were placed on or after start_date. The runs of the job credit them.',
    '1 order in the exports has no date, and belongs to no period.',
    'There is nothing to post.',
    'plan 0123456789ab',
  ]);
  const others = (['waiting', 'unattributed', 'organic', 'rejected', 'in_doubt'] as const).map((standing) =>
    group({ standing, reason: standing === 'unattributed' ? 'unknown_code' : null }),
  );
  expect(plan({ ...BACKFILL, plan: { ...BACKFILL.plan, groups: others } }).slice(2, 8)).toEqual([
    'to be posted  0',
    'waiting  1  a run of the job posts them',
    'unattributed  1  unknown code 1',
    'organic  1  no code, link or handle',
    'refused  1  by the service, before',
    'in doubt  1  not sent again; see npx influencer-sync review',
  ]);
  expect(plan({ ...BACKFILL, state: 'done' }).at(-1), 'it was executed').toBe('plan 0123456789ab');
});

it('the changes since a plan name three orders and three files, and say if there are more', () => {
  const none = { orders: 0, examples: [] };
  const more = { orders: 4, examples: ['a', 'b', 'c'] };
  const fewer = { orders: 1, examples: ['d'] };
  const files = ['x/1.csv', '2.csv', '3.csv', '4.csv'];
  expect(text(describeChanges({ more, fewer, other: none, files }))).toEqual([
    'Changes since the previous plan',
    '- 4 orders more to post (a, b, c, …)',
    '- 1 order no longer to post (d)',
    '- other files: 1.csv, 2.csv, 3.csv, …',
  ]);
  expect(tones(describeChanges({ more, fewer, other: none, files }))).toEqual(['yellow']);
  const other = { orders: 3, examples: ['d', 'e', 'f'] };
  expect(text(describeChanges({ more: none, fewer: none, other, files: files.slice(1) })).slice(1)).toEqual([
    '- 3 orders with another amount or influencer (d, e, f)',
    '- other files: 2.csv, 3.csv, 4.csv',
  ]);
});

it('the end of a backfill says what was posted, why it stopped, and what to do', () => {
  const end = (how: 'done' | 'cancelled' | 'stopped', problem: string | null = null, inDoubt = 0) =>
    text(describeBackfillEnd({ backfill: BACKFILL, end: how, problem, progress: { ...PROGRESS, inDoubt } }));
  const posted = '12 orders = 10 posted (104.00 EUR) + 2 to be posted';
  expect(end('done', null, 1)).toEqual([
    'Backfill 7 of orders: done',
    `${posted} + 1 in doubt.`,
    'npx influencer-sync review',
  ]);
  expect(end('cancelled')).toEqual(['Backfill 7 of orders: cancelled', `${posted}.`]);
  expect(end('stopped', 'No key.')).toEqual([
    'Backfill 7 of orders: stopped; you can resume it',
    'No key.',
    `${posted}.`,
    'npx influencer-sync backfill resume 7',
  ]);
  const shown = (end: 'done' | 'stopped', problem: string | null) =>
    tones(describeBackfillEnd({ backfill: BACKFILL, end, problem, progress: PROGRESS }));
  expect([shown('done', null), shown('stopped', 'No key.')]).toEqual([['green'], ['yellow', 'yellow']]);
  const did = (planned: number | null, accepted = 0, rejected = 0, doubts = 0) =>
    backfillDid({
      files: 0,
      rows: 0,
      rejected_rows: 0,
      planned,
      entries: { accepted, rejected, in_doubt: doubts },
    });
  expect([did(12), did(12, 1, 1), did(12, 1, 0, 1), did(12, 0, 1, 1)]).toEqual([
    'plan of 12 orders',
    '1 posted, 1 refused',
    '1 posted, 1 in doubt',
    '0 posted, 1 refused, 1 in doubt',
  ]);
  expect([did(12), did(12, 0, 0, 1), did(null, 10, 2), did(null)]).toEqual([
    'plan of 12 orders',
    '0 posted, 1 in doubt',
    '10 posted, 2 refused',
    '0 posted',
  ]);
});

it('backfills are listed with what they posted; one that should run says in which process, at what pace, and why it stopped', () => {
  expect(text(describeBackfills([]))).toEqual(['There are no backfills yet.']);
  const parts = { toPost: 120, planned: 134, rejected: 1, inDoubt: 2, held: 1 };
  const listed = text(
    describeBackfills([
      { backfill: BACKFILL, progress: PROGRESS },
      { backfill: { ...BACKFILL, backfillId: '6', state: 'replaced' }, progress: PROGRESS },
      { backfill: { ...BACKFILL, backfillId: '5', state: 'running' }, progress: PROGRESS },
      {
        backfill: { ...BACKFILL, backfillId: '4', state: 'running' },
        progress: { ...PROGRESS, ...parts, process: PROCESS, answersLastMinute: 60 },
      },
      {
        backfill: { ...BACKFILL, backfillId: '3', state: 'paused', problem: 'no key.' },
        progress: { ...PROGRESS, process: PROCESS, amounts: null },
      },
      { backfill: { ...BACKFILL, backfillId: '2', state: 'done' }, progress: PROGRESS },
    ]),
  );
  const row = (id: string, state: string, counts: string) =>
    `${id}  orders  ${state}  2025-05-01 – 2025-06-30  2026-04-01 10:00  ${counts}`;
  expect(listed).toEqual([
    'id  job  state  days  planned (UTC)  orders  posted',
    row('7', 'planned', '12'),
    row('6', 'replaced', '12'),
    row('5', 'no process', '12  10'),
    row('4', 'running', '134  10'),
    row('3', 'paused', '12  10'),
    row('2', 'done', '12  10'),
    'Backfill 5: 12 orders = 10 posted (104.00 EUR) + 2 to be posted. No process is working on it. Run: npx influencer-sync backfill resume.',
    'Backfill 4: 134 orders = 10 posted (104.00 EUR) + 120 to be posted + 1 refused + 2 in doubt + 1 not posted (changed, credited elsewhere, or cancelled). 1.0 a',
    'second, 2 min 0 s left. Process 9 on here.',
    'Backfill 3: 12 orders = 10 posted + 2 to be posted. Process 9 on here. It stopped: no key.',
  ]);
  const progress = { ...PROGRESS, process: PROCESS, answersLastMinute: 6 };
  expect(paceOf({ state: 'running' }, progress)).toBe('0.1 a second, 20 s left');
  expect(paceOf({ state: 'paused' }, progress)).toBeNull();
  expect(paceOf({ state: 'running' }, { ...progress, process: null })).toBeNull();
  expect(paceOf({ state: 'running' }, { ...progress, answersLastMinute: 0 })).toBeNull();
});
