import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { backfill, openHistory, PERIOD, planIn, toHistory } from './history.ts';

type Known = {
  readonly state: string;
  readonly reason?: string;
  /** How often it was sent, and how often that was certainly not processed. */
  readonly sent?: readonly [attempt: number, notSent: number];
  readonly job?: string;
  readonly source?: string;
};

/** What the ledger knows of an order of the period, and what a plan says of it. */
const KNOWN: readonly (readonly [what: string, known: Known | null, standing: string])[] = [
  ['nothing', null, 'to_post'],
  ['that it is credited', { state: 'accepted', sent: [1, 0] }, 'already'],
  ['that another job credited it', { state: 'accepted', sent: [1, 0], job: 'other' }, 'already'],
  ['a doubt', { state: 'in_doubt', reason: 'no answer', sent: [1, 0] }, 'in_doubt no answer'],
  ['a refusal', { state: 'rejected', reason: 'no such deal', sent: [1, 0] }, 'rejected no such deal'],
  ['that a person wrote it off', { state: 'written_off', sent: [1, 0] }, 'held written_off'],
  ['that it waits to be sent', { state: 'ready' }, 'waiting'],
  ['that it waits to be sent again', { state: 'ready', sent: [1, 0] }, 'waiting'],
  ['that it was not processed and waits', { state: 'ready', sent: [1, 1] }, 'waiting'],
  ['that it waits under another job', { state: 'ready', job: 'other' }, 'excluded known_from_another_job'],
  [
    'that it waits for another source',
    { state: 'ready', source: 'web' },
    'excluded known_from_another_source',
  ],
  ['that a person holds it', { state: 'held', reason: 'by_operator' }, 'held by_operator'],
  ['that it was not to be credited', { state: 'held', reason: 'no_longer_attributed' }, 'to_post'],
  ['that a backfill left it', { state: 'held', reason: 'backfill_cancelled' }, 'to_post'],
  ['that it changed after a plan', { state: 'held', reason: 'changed_since_the_plan' }, 'to_post'],
  ['the same of another source', { state: 'held', reason: 'no_longer_attributed', source: 'web' }, 'to_post'],
];

it('a plan says of each order what the ledger knows of it, and posts only what nobody may have sent', async () => {
  const shop = await openHistory();
  // One order a month, so that the plan, which is by month, says what becomes of each.
  const monthOf = (index: number) => new Date(Date.UTC(2023, index, 15)).toISOString().slice(0, 7);
  const orders = KNOWN.map((_, index) => ({ id: `h${index}`, placedAt: `${monthOf(index)}-15T12:00:00Z` }));
  shop.drop('orders.csv', toHistory([{ id: 'recent', placedAt: '2025-02-02T12:00:00Z' }, ...orders]));
  expect((await shop.run()).exitCode).toBe(0);
  for (const [index, [, known]] of KNOWN.entries()) {
    if (known === null) continue;
    const {
      state,
      reason = null,
      sent: [attempt, notSent] = [0, 0],
      job = 'orders',
      source = 'shop',
    } = known;
    await sql`
      insert into ledger.entries (effect, account_id, key, state, state_reason, attempt, not_sent, doubtful_attempt, deal_id, body, body_hash, job, source,
        order_platform, order_id, amount, currency, run_id)
      select effect, account_id, replace(key, 'recent', ${`h${index}`}), ${state}, ${reason}, ${attempt}, ${notSent},
        ${state === 'in_doubt' ? attempt : null}, deal_id, body, body_hash, ${job}, ${source}, order_platform, ${`h${index}`}, amount, currency, run_id from ledger.entries where order_id = 'recent'`.execute(
      shop.db,
    );
  }
  const { groups } = planIn(await backfill(shop, 'orders', ...PERIOD, '--plan'));
  const said = groups.map(({ month, standing, reason }) => [
    month,
    [standing, reason].filter(Boolean).join(' '),
  ]);
  expect(said.toSorted()).toEqual(KNOWN.map(([, , standing], index) => [monthOf(index), standing]));
});
