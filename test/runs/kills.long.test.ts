import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/sandbox/random-id.ts';
import {
  countStates,
  leasesAreOver,
  manyRows,
  openWorkshop,
  processed,
  repeated,
  toCsv,
} from './workshop.ts';

describe('a run that is killed', () => {
  it('at eight random times loses and repeats nothing, and leaves doubts only for requests in flight', async () => {
    const concurrency = 4;
    const shop = await openWorkshop({
      api: `concurrency: ${concurrency}\nlease_seconds: 3\ntimeout_seconds: 2.5`,
      // Slow enough that no run ends before it is killed, even on a busy machine.
      sandbox: { latencyMs: 60 },
    });
    const orders = 400;
    shop.drop('orders.csv', toCsv(manyRows(orders)));
    const random = seededRandom('kills of a run');
    let kills = 0;
    for (let round = 1; round <= 8; round += 1) {
      const run = shop.start('run', 'orders', '--json');
      // The kill comes at a random time: while the run starts or reads, or after some orders of this round.
      const before = (await shop.posted()).length;
      if (round <= 2) await sleep(Math.floor(random() * 900));
      else {
        const more = 1 + Math.floor(random() * 30);
        await Promise.race([processed(shop, before + more), run.ended]);
      }
      run.kill('SIGKILL');
      const { signal } = await run.ended;
      if (signal === 'SIGKILL') kills += 1;
      await leasesAreOver(shop);
    }
    expect(kills).toBe(8);

    const last = await shop.run();
    const posted = await shop.posted();
    const states = await countStates(shop.db);
    expect(repeated(posted)).toEqual([]);
    const { accepted = 0, in_doubt: doubts = 0 } = states;
    expect(accepted + doubts).toBe(orders);
    expect(doubts).toBeLessThanOrEqual(kills * concurrency * 1.5);
    expect(last.exitCode).toBe(doubts > 0 ? 6 : 0);
    expect(posted.length).toBeGreaterThanOrEqual(accepted);
    const { rows } = await sql<{ order_id: string }>`
      select order_id from ledger.entries where state = 'accepted'`.execute(shop.db);
    const known = new Set(posted);
    expect(rows.filter(({ order_id }) => !known.has(order_id))).toEqual([]);
    const { rows: runs } = await sql<{ status: string }>`select distinct status from ops.runs`.execute(
      shop.db,
    );
    expect(runs.map(({ status }) => status)).not.toContain('running');
  });
});
