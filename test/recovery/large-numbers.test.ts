import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { loseClaims } from './lost-databases.ts';

it.each([
  ['2^31', 2n ** 31n - 1n],
  ['2^53', 2n ** 53n - 1n],
])(
  'entries and claims with numbers around %s are claimed, posted, doubted, decided, explained and recovered exactly',
  async (_what, first) => {
    const shop = await openWorkshop();
    for (const sequence of ['ledger.entries_entry_id_seq', 'ledger.claim_numbers'])
      await sql`select setval(${sequence}::regclass, ${String(first)}::bigint, false)`.execute(shop.db);
    const numbers = async () => {
      const { rows } = await sql<{ id: string; claim: string; state: string; orderId: string }>`
      select e.entry_id as id, a.claim_no as claim, e.state, e.order_id as "orderId"
      from ledger.entries e join ledger.attempts a using (entry_id) order by a.claim_no`.execute(shop.db);
      return rows;
    };
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral', count: 1 }]);
    shop.drop('orders.csv', toCsv([{ id: 'a1' }, { id: 'a2' }, { id: 'a3' }]));
    expect((await shop.run()).exitCode).toBe(6);
    const sent = await numbers();
    const expected = [0n, 1n, 2n].map((more) => String(first + more));
    expect(sent.map(({ claim }) => claim)).toEqual(expected);
    expect(sent.map(({ id }) => id).sort()).toEqual([...expected].sort());
    const notes = (await shop.sandbox.referrals()).map((one) => JSON.stringify(one));
    for (const { id } of sent) expect(notes.join('\n')).toContain(`.e${id}.a1`);

    const doubt = sent.find(({ state }) => state === 'in_doubt');
    const id = doubt?.id ?? '';
    expect((await shop.cli('review')).stdout).toContain(id);
    const console = await startTestConsole(shop);
    expect(textOf((await console.get('/doubts')).text)).toContain(id);
    const settled = await shop.cli('review', id, '--accepted', '--deal', 'DEALMIA', '--reason', 'listed');
    expect([settled.exitCode, settled.stderr]).toEqual([0, '']);
    expect((await shop.cli('explain', 'order', doubt?.orderId ?? '')).stdout).toContain('accept');
    expect((await shop.run()).exitCode).toBe(0);

    const newest = sent.at(-1)?.orderId ?? '';
    await loseClaims(shop.databaseUrl, newest);
    // A restored database draws its old numbers again.
    await sql`select setval('ledger.claim_numbers', 1, false)`.execute(shop.db);
    expect((await shop.run()).exitCode).toBe(7);
    const recovered = await shop.cli('ledger', 'recover', '--reason', 'restored');
    expect([recovered.exitCode, recovered.stdout]).toEqual([0, expect.stringContaining('Recovered 1 claim')]);
    shop.drop('more.csv', toCsv([{ id: 'b1' }]));
    expect((await shop.run()).exitCode).toBe(0);
    const { rows } = await sql`select claim_no::text as no from ledger.lost_claims`.execute(shop.db);
    expect(rows).toEqual([{ no: expected[2] }]);
    expect((await numbers()).at(-1)).toMatchObject({ orderId: 'b1', claim: String(first + 3n) });
    expect(await shop.posted()).toEqual(['a1', 'a2', 'a3', 'b1']);
  },
);
