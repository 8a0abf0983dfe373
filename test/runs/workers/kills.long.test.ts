import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { seededRandom } from '../../../src/sandbox/random-id.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countStates, repeated } from '../workshop.ts';
import { dropBoth, ON_THE_WAY, openSpreadShop, startWorker, startWorkers } from './spread-shop.ts';

/** A campaign runs more of them: `npm run test:campaigns -- work`. */
const KILLS = Number(process.env.WORK_KILLS ?? 3);
const WORKERS = 3;
const QUIET = { LOG_LEVEL: 'silent' };
/** Orders in each of the two sources, so that there is work for every kill. */
const ORDERS = 100 + 60 * KILLS;

it(`with ${KILLS} kills of workers and of the run that they work for, each order is posted once, and no more are in doubt than were on their way`, async () => {
  const shop = await openSpreadShop({ sandbox: { latencyMs: 20 } });
  dropBoth(shop, ORDERS);
  const random = seededRandom('kills of workers');
  const workers = [...(await startWorkers(shop, WORKERS, QUIET))];
  let hired = WORKERS;

  let run = shop.start('run', 'orders', '--json');
  /** Starts a run if none is active. It may have to wait until the lease of the previous one expires. */
  function keepRunning(): void {
    if (run.hasEnded()) run = shop.start('run', 'orders', '--json');
  }
  let kills = 0;
  while (kills < KILLS) {
    const target = (await shop.posted()).length + 1 + Math.floor(random() * 25);
    await waitFor(async () => {
      keepRunning();
      return (await shop.posted()).length >= Math.min(target, 2 * ORDERS);
    });
    const victim = Math.floor(random() * (WORKERS + 1));
    if (victim === WORKERS) {
      run.kill('SIGKILL');
      await run.ended;
    } else {
      workers[victim]?.kill('SIGKILL');
      workers[victim] = startWorker(shop, `worker-${hired}`, QUIET);
      hired += 1;
    }
    kills += 1;
  }
  await run.ended;
  // The surviving processes complete the rest. Workers may have posted everything before any run could begin:
  // while the lease of a killed run lasts, the next one exits with 5.
  let last = await shop.run();
  await waitFor(async () => {
    const { ready = 0, sending = 0 } = await countStates(shop.db);
    if (ready + sending === 0 && last.exitCode !== 5) return true;
    last = await shop.run();
    return false;
  });
  const posted = await shop.posted();
  const { accepted = 0, in_doubt: doubts = 0 } = await countStates(shop.db);
  expect(repeated(posted)).toEqual([]);
  expect(accepted + doubts).toBe(2 * ORDERS);
  expect(doubts).toBeLessThanOrEqual(kills * ON_THE_WAY);
  expect(posted.length).toBeGreaterThanOrEqual(accepted);
  expect([0, 6]).toContain(last.exitCode);
  const known = new Set(posted);
  const { rows } = await sql<{ order_id: string }>`
    select order_id from ledger.entries where state = 'accepted'`.execute(shop.db);
  expect(rows.filter(({ order_id: orderId }) => !known.has(orderId))).toEqual([]);
});
