import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { amountAfter, isInSentCurrency } from '../../src/ledger/propose.ts';
import { recordAnswers } from '../../src/ledger/record.ts';
import { type ComesTo, settleRestated } from '../../src/ledger/settle-restated.ts';
import { openShop, order } from '../intake/story.ts';
import { setup } from '../support/setup.ts';
import { insertEntry, mustClaim, proposeBody, startWorker } from './entries.ts';

/** Versions of orders as exports state them: in the currency that was sent, in another one, and in that with a refund. */
async function openVersions() {
  const { db } = await setup();
  const shop = await openShop(db);
  await shop.read({
    orders: [
      order('euros', { currency: 'EUR' }),
      order('dollars', { currency: 'USD' }),
      order('dollars again', { currency: 'USD' }),
      order('dollars back', { currency: 'USD', refunded: '1.00' }),
      order('euros back', { currency: 'EUR', refunded: '1.00' }),
    ],
  });
  const { rows } = await sql<{ id: string; version: string }>`
    select order_id as id, order_version_id as version from intake.orders`.execute(db);
  const versionOf = (id: string) => rows.find((row) => row.id === id)?.version ?? '';
  return { db, versionOf };
}

/** One adjustment of an order that was sent with 10.00 EUR. */
type Adjustment = {
  readonly kind: string;
  readonly amount?: string | null;
  /** The order whose version states it; by default none. */
  readonly states?: string;
  readonly isDecision?: boolean;
  readonly isElsewhere?: boolean;
};

const held = (amount: string | null = null): Adjustment => ({ kind: 'held', amount, states: 'dollars' });

/** What was recorded about an order; and what it comes to if it stays as it was, as `kind amount`. Null: nothing is recorded. */
const HISTORIES: readonly (readonly [string, readonly Adjustment[], string | null])[] = [
  ['nothing before', [held()], 'changed 10.0000'],
  ['a change', [{ kind: 'changed', amount: '7' }, held()], 'changed 7.0000'],
  ['less than a refund, held', [{ kind: 'refunded', amount: '6' }, held('5')], 'refunded 5.0000'],
  ['more than a refund, held', [{ kind: 'refunded', amount: '6' }, held('8')], 'refunded 6.0000'],
  ['less, held before a change', [held('5'), { kind: 'changed', amount: '9' }, held()], 'changed 9.0000'],
  ['less, held twice', [held('5'), held('4')], 'changed 4.0000'],
  ['nothing of it, held', [{ kind: 'changed', amount: '7' }, held('0')], 'changed 7.0000'],
  ['another influencer', [{ kind: 'reattributed', amount: null }, held()], 'reattributed 10.0000'],
  ['an exclusion', [{ kind: 'excluded', amount: null }, held()], 'excluded 0.0000'],
  [
    'a change of another currency',
    [{ kind: 'changed', amount: '7', states: 'dollars' }, held()],
    'changed 10.0000',
  ],
  [
    'a change of the same currency',
    [{ kind: 'changed', amount: '7', states: 'euros' }, held()],
    'changed 7.0000',
  ],
  [
    'another source after it',
    [held(), { kind: 'changed', amount: '3', isElsewhere: true }],
    'changed 10.0000',
  ],
  [
    'another source before it',
    [{ kind: 'changed', amount: '3', isElsewhere: true }, held()],
    'changed 10.0000',
  ],
  ['another source, held', [held(), { ...held('2'), isElsewhere: true }], 'changed 10.0000'],
  [
    'a decision',
    [{ kind: 'refunded', amount: '6' }, held(), { kind: 'changed', amount: '8', isDecision: true }],
    'refunded 6.0000',
  ],
  [
    'a decision, held again',
    [held(), { kind: 'refunded', amount: '0', isDecision: true }, held()],
    'changed 10.0000',
  ],
  ['nothing that is unclear', [held(), { kind: 'changed', amount: '7' }], null],
];

it('what a person decides is recorded in the currency that was sent: what the order came to before, or nothing', async () => {
  const { db, versionOf } = await openVersions();
  const { runId } = await startWorker(db);
  const entryIds: string[] = [];
  for (const [title, history] of [...HISTORIES, ['not named', [held()]] as const]) {
    const entryId = await insertEntry(db, { runId, orderId: title });
    entryIds.push(entryId);
    for (const [
      place,
      { kind, amount = null, states, isDecision = false, isElsewhere = false },
    ] of history.entries())
      await sql`
        insert into ledger.adjustments (entry_id, order_version_id, kind, old_amount, new_amount, currency, old_body_hash, new_body_hash,
          is_decision, is_elsewhere, run_id)
        values (${entryId}::bigint, ${states === undefined ? null : versionOf(states)}::bigint, ${kind}, 10.00, ${amount}::numeric, 'EUR',
          'sent', ${kind === 'excluded' ? null : `stated ${place}`}, ${isDecision}, ${isElsewhere}, ${runId}::bigint)`.execute(
        db,
      );
  }
  /** What is recorded, and then taken back. */
  const settle = async (comesTo: ComesTo) => {
    const trx = await db.startTransaction().execute();
    const { rows: before } = await sql<{ newest: string }>`
      select max(adjustment_id) as newest from ledger.adjustments`.execute(trx);
    const settled = await settleRestated(trx, { entryIds: entryIds.slice(0, -1), comesTo });
    const { rows } = await sql<Record<string, unknown>>`
      select e.order_id, kind || ' ' || new_amount as said, d.order_version_id, old_amount, d.currency, old_body_hash,
        new_body_hash, detail, is_decision, is_elsewhere, d.run_id
      from ledger.adjustments d join ledger.entries e using (entry_id)
      where adjustment_id > ${before[0]?.newest ?? null} order by entry_id`.execute(trx);
    await trx.rollback().execute();
    expect(rows).toHaveLength(settled);
    return rows;
  };
  const stated = {
    order_version_id: null,
    old_amount: '10.0000',
    currency: 'EUR',
    old_body_hash: 'sent',
    run_id: runId,
  };
  const decided = HISTORIES.flatMap(([title, history, said]) => {
    const ofSource = history.map(({ isElsewhere = false }) => !isElsewhere).lastIndexOf(true);
    const row = {
      ...stated,
      order_id: title,
      new_body_hash: `stated ${ofSource}`,
      is_decision: true,
      is_elsewhere: false,
    };
    return said === null ? [] : [{ ...row, said }];
  });
  expect(await settle('sent')).toEqual(
    decided.map((row) => ({ ...row, detail: 'A person decided that it stays as it was before.' })),
  );
  expect(await settle('returned')).toEqual(
    decided.map((row) => ({
      ...row,
      said: 'refunded 0.0000',
      detail: 'A person decided that all of it was returned.',
    })),
  );
});

it('an adjustment says what an order comes to in the currency that was sent, unless another one is stated and something is left', async () => {
  const { db, versionOf } = await openVersions();
  const [euros, dollars] = [versionOf('euros'), versionOf('dollars')];
  const { rows } = await sql<{ title: string; is_in: boolean; comes_to: number }>`
    select title, ${isInSentCurrency('d')} is true as is_in, ${amountAfter('d')}::float8 as comes_to
    from (values
      ('changed', 'changed', 10, 7, 'b', ${euros}::bigint, 'EUR'), ('in dollars', 'changed', 10, 7, 'b', ${dollars}::bigint, 'EUR'),
      ('decided', 'changed', 10, 7, 'b', null, 'EUR'), ('refunded', 'refunded', 10, 0, 'b', ${dollars}::bigint, 'EUR'),
      ('excluded', 'excluded', 10, null, null, ${dollars}::bigint, 'EUR'), ('unknown', 'changed', 10, null, 'b', ${dollars}::bigint, 'EUR'),
      ('no request', 'changed', 10, 7, null, ${dollars}::bigint, 'EUR'), ('forgotten', 'changed', 10, 7, 'b', 0, 'EUR'),
      ('reattributed', 'reattributed', 10, 8, 'b', ${euros}::bigint, 'EUR'), ('for another', 'reattributed', 10, null, 'b', ${euros}::bigint, 'EUR')
    ) as d (title, kind, old_amount, new_amount, new_body_hash, order_version_id, currency)`.execute(db);
  expect(rows.map(({ title, is_in, comes_to }) => [title, is_in, comes_to])).toEqual([
    ['changed', true, 7],
    ['in dollars', false, 7],
    ['decided', true, 7],
    ['refunded', true, 0],
    ['excluded', true, 0],
    ['unknown', false, 0],
    ['no request', false, 7],
    ['forgotten', true, 7],
    ['reattributed', true, 8],
    ['for another', true, 10],
  ]);
});

/** An accepted order of 10.00 EUR, of which its source states something else since, and about which a person decides. */
async function openAccepted() {
  const { db, versionOf } = await openVersions();
  const worker = await startWorker(db);
  const { runId } = worker;
  const another = await insertEntry(db, { runId, orderId: 'another', amount: '99.00' });
  const entryId = await insertEntry(db, { runId, orderId: '1' });
  await sql`update ledger.entries set source = 'shop'`.execute(db);
  await mustClaim(worker, entryId);
  const outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null } as const;
  await recordAnswers(db, [{ entryId, attempt: 1, outcome, backoffMs: 0 }], 'direct');
  /** Reads all adjustments, as `kind amount: detail`, those of another source in brackets. */
  const read = async () => {
    const { rows } = await sql<{ said: string }>`
      select case when is_elsewhere then format('(%s)', said) else said end as said
      from ledger.adjustments d join ledger.entries e using (entry_id), concat(kind, ' ' || new_amount, ': ' || detail) said where e.order_id = '1' order by adjustment_id`.execute(
      db,
    );
    return rows.map(({ said }) => said);
  };
  return {
    /** @param as what the request would say, besides the amount. */
    async state(amount: string, { as = 1, currency = 'EUR', of = '', source = 'shop' } = {}) {
      const body = `{"influencer_handle":"mia.test","v":${as}}`;
      const versionId = of === '' ? {} : { versionId: versionOf(of) };
      await proposeBody(db, { runId, entryId, body, amount, currency, source, ...versionId });
      return read();
    },
    async decide(comesTo: ComesTo) {
      await inTransaction(db, (trx) => settleRestated(trx, { entryIds: [entryId], comesTo }));
      // What becomes of another order does not matter.
      await sql`
        insert into ledger.adjustments (entry_id, order_version_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
        values (${another}::bigint, ${versionOf('dollars back')}::bigint, 'changed', 99, 98, 'EUR', 'sent', ${runId}::bigint)`.execute(
        db,
      );
      return read();
    },
  };
}

it('a decision that an order stays as it was holds until its source states another request, or another refund', async () => {
  const { state, decide } = await openAccepted();
  const dollars = (of: string, as = 1) => state('12.00', { currency: 'USD', of, as });
  const held = 'held: Source shop states 12.00 USD; it was sent in EUR.';
  const stays = 'changed 10.0000: A person decided that it stays as it was before.';
  expect(await dollars('dollars')).toEqual([held]);
  expect(await dollars('dollars back'), 'it is held already').toEqual([held]);
  expect(await decide('sent')).toEqual([held, stays]);
  expect(await dollars('dollars again')).toEqual([held, stays]);
  expect(await dollars('dollars back')).toEqual([held, stays, held]);
  expect(await decide('sent')).toEqual([held, stays, held, stays]);
  expect(await dollars('dollars back')).toHaveLength(4);
  // What another source states is not what the person decided about.
  expect((await state('12.00', { currency: 'USD', of: 'dollars', source: 'other' })).slice(4)).toEqual([
    `(${held.replace('shop', 'other')})`,
  ]);
  expect(await dollars('dollars back')).toHaveLength(5);
  expect((await dollars('dollars')).slice(5), 'nothing is refunded any more').toEqual([held]);
  expect((await decide('sent')).slice(6)).toEqual([stays]);
  expect((await dollars('dollars', 2)).slice(7)).toEqual([held]);
});

it('an order that comes to nothing by decision is held if something is stated in its currency again, until nothing is', async () => {
  const { state, decide } = await openAccepted();
  await state('12.00', { currency: 'USD' });
  expect((await decide('returned')).at(-1)).toBe(
    'refunded 0.0000: A person decided that all of it was returned.',
  );
  const otherwise = (source: string, amount: string) =>
    `held ${amount}00: Source ${source} states ${amount} EUR; a person decided that it comes to nothing.`;
  expect((await state('5.00', { source: 'other' })).at(-1)).toBe(`(${otherwise('other', '5.00')})`);
  await state('0', { source: 'other', as: 5 });
  expect((await state('7.00', { as: 2 })).at(-1)).toBe(otherwise('shop', '7.00'));
  expect((await state('6.00', { as: 3 })).at(-1)).toBe(otherwise('shop', '6.00'));
  // In the currency that was sent a refund alone is no reason to ask again.
  const decided = await decide('sent');
  expect(await state('6.00', { as: 3, of: 'euros' })).toEqual(decided);
  expect(await state('6.00', { as: 3, of: 'euros back' })).toEqual(decided);
  await decide('returned');
  expect((await state('0', { as: 4 })).at(-1)).toBe('changed 0.0000');
  expect((await state('7.00', { as: 2 })).at(-1), 'no person decided about that').toBe('changed 7.0000');
});
