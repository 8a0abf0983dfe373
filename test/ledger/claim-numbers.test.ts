import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';

const ROUNDS = 150;

/** Draws the number of a claim, as a process that posts does. */
async function draw(db: Database): Promise<number> {
  const { rows } = await sql<{ no: string }>`select nextval('ledger.claim_numbers') as no`.execute(db);
  return Number(rows[0]?.no);
}

it('no two claims have one number, and each is above those of lost claims, while recoveries raise the numbers', async () => {
  const { db } = await setup();
  const drawn: number[] = [];
  async function claim(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) drawn.push(await draw(db));
  }
  /** Raises to numbers that others are about to draw: whoever compares too early would set the sequence back. */
  async function recover(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      const above = Math.max(...drawn, 1) + 2;
      await sql`select ledger.raise_claim_numbers(${above}::bigint)`.execute(db);
      const next = await draw(db);
      expect(next).toBeGreaterThan(above);
      drawn.push(next);
    }
  }
  await Promise.all([claim(), claim(), claim(), recover(), recover()]);
  expect(new Set(drawn).size).toBe(drawn.length);
});

it('nobody draws a number between the comparison and the raise, until the recovery has ended', async () => {
  const { db } = await setup();
  const waiting = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%nextval%'`.execute(db);
    return rows.length;
  };
  const drawn: Promise<number>[] = [];
  await db.transaction().execute(async (trx) => {
    await sql`select ledger.raise_claim_numbers(100)`.execute(trx);
    drawn.push(draw(db), draw(db));
    await waitFor(async () => (await waiting()) === 2);
  });
  expect(new Set(await Promise.all(drawn))).toEqual(new Set([101, 102]));
});
