import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manyRows, toCsv } from '../../runs/workshop.ts';
import { goBack, openDrill } from './drill.ts';

const REFERRAL = 'new_influencer_referral';

describe('a notice is sent once when a problem opens and once when it is resolved', () => {
  it('for a job whose runs keep failing', async () => {
    const { shop, receiver, told } = await openDrill();
    for (let round = 0; round < 4; round += 1) expect((await shop.run()).exitCode).toBe(2);
    expect(told()).toEqual(['opened job_failed orders']);
    expect(receiver.received[0]?.json).toMatchObject({
      event: 'opened',
      problem: 'job_failed',
      job: 'orders',
      severity: 'error',
      amounts: [],
      summary: expect.stringMatching(/^Run 1 of orders failed with exit code 2: /),
      command: 'npx influencer-sync runs --job orders',
      link: 'https://ops.example.com/influencers/runs/1',
    });
    shop.drop('orders.csv', toCsv(manyRows(2)));
    for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(0);
    expect(told()).toEqual(['opened job_failed orders', 'resolved job_failed orders']);
    expect(receiver.received[1]?.json).toMatchObject({ summary: 'A run of orders has finished again.' });
  });

  it('for a rejected API key: one problem for all jobs, without job_failed', async () => {
    const { shop, told } = await openDrill();
    shop.drop('orders.csv', toCsv(manyRows(2)));
    const key = shop.env.INFLUENCER_API_KEY ?? '';
    shop.env.INFLUENCER_API_KEY = 'another-key';
    for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(4);
    expect(told()).toEqual(['opened key_refused -']);
    shop.env.INFLUENCER_API_KEY = key;
    expect((await shop.run()).exitCode).toBe(0);
    expect(told()).toEqual(['opened key_refused -', 'resolved key_refused -']);
  });

  it('for an unreachable service', async () => {
    const { shop, told } = await openDrill();
    shop.drop('orders.csv', toCsv(manyRows(2)));
    const url = shop.env.INFLUENCER_API_URL ?? '';
    shop.env.INFLUENCER_API_URL = 'http://127.0.0.1:9';
    for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(1);
    expect(told()).toEqual(['opened service_away -']);
    shop.env.INFLUENCER_API_URL = url;
    expect((await shop.run()).exitCode).toBe(0);
    expect(told()).toEqual(['opened service_away -', 'resolved service_away -']);
  });

  it('for orders in doubt, with their amounts, until an operator settles them', async () => {
    const { shop, receiver, told } = await openDrill();
    shop.drop('orders.csv', toCsv(manyRows(3)));
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: REFERRAL, count: 3 }]);
    expect((await shop.run()).exitCode).toBe(6);
    await shop.sandbox.setFaults(null);
    expect((await shop.run()).exitCode).toBe(6);
    expect(told()).toEqual(['opened doubts orders']);
    expect(receiver.received[0]?.json).toMatchObject({
      severity: 'error',
      amounts: [{ amount: '6.06', currency: 'EUR' }],
      command: 'npx influencer-sync review',
      link: 'https://ops.example.com/influencers/doubts?job=orders',
    });
    const listed = (await shop.cli('review', '--json')).stdout.matchAll(/"entry_id":"(\d+)"/g);
    for (const [, entryId = ''] of listed)
      expect((await shop.cli('review', entryId, '--accepted', '--reason', 'seen there')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    expect(told()).toEqual(['opened doubts orders', 'resolved doubts orders']);
  });

  it('for a held file until it is corrected, and for rejected rows until a run rejects none', async () => {
    const { shop, receiver, told } = await openDrill();
    const bad = [{ id: 'bad1', revenue: 'twelve' }];
    shop.drop('orders.csv', toCsv([...manyRows(20), ...bad]));
    expect((await shop.run()).exitCode).toBe(3);
    expect(told()).toEqual(['opened rows_rejected orders']);
    expect(receiver.received[0]?.json).toMatchObject({
      severity: 'warning',
      command: 'npx influencer-sync rejected --run 1',
    });
    shop.drop('wrong.csv', toCsv(manyRows(40, 'x').map((row) => ({ ...row, revenue: 'twelve' }))));
    expect((await shop.run()).exitCode).toBe(3);
    expect((await shop.run()).exitCode).toBe(3);
    expect(told().toSorted()).toEqual([
      'opened files_held orders',
      'opened rows_rejected orders',
      'resolved rows_rejected orders',
    ]);
    shop.drop('wrong.csv', toCsv(manyRows(40, 'x')));
    expect((await shop.run()).exitCode).toBe(0);
    expect(told().at(-1)).toBe('resolved files_held orders');
    expect(told()).toHaveLength(4);
  });

  it('for a ledger that went back, with the amounts it lacks, until it is recovered', async () => {
    const drill = await openDrill({ isReplaceable: true });
    const { shop, receiver, told } = drill;
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    expect((await shop.run()).exitCode).toBe(0);
    await goBack(drill, async () => {
      shop.drop('two.csv', toCsv(manyRows(2, 'b')));
      expect((await shop.run()).exitCode).toBe(0);
    });
    expect((await shop.run()).exitCode).toBe(7);
    expect(told()).toEqual(['opened ledger_went_back -']);
    expect(receiver.received[0]?.json).toMatchObject({
      severity: 'error',
      amounts: [{ amount: '3.03', currency: 'EUR' }],
      command: "npx influencer-sync ledger recover --reason '…'",
    });
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    expect(told()).toEqual(['opened ledger_went_back -', 'resolved ledger_went_back -']);
  });

  it('for an order posted by two databases, with its amount, until an operator acknowledges it', async () => {
    const drill = await openDrill({ isReplaceable: true });
    const { shop, receiver, told } = drill;
    const journal = join(shop.folder, '.data', 'journal');
    shop.drop('one.csv', toCsv(manyRows(1, 'a')));
    expect((await shop.run()).exitCode).toBe(0);
    await goBack(drill, async () => {
      shop.drop('two.csv', toCsv(manyRows(1, 'b')));
      expect((await shop.run()).exitCode).toBe(0);
      // The journal of the requests since the backup is on a disk that is lost.
      renameSync(journal, `${journal}-elsewhere`);
    });
    const recover = (...more: string[]) => shop.cli('ledger', 'recover', '--reason', 'restored', ...more);
    await recover('--accept-undescribed');
    expect((await shop.run()).exitCode).toBe(0);
    expect(await shop.posted()).toEqual(['a1', 'b1', 'b1']);
    const before = told().length;
    // The disk is found again.
    rmSync(journal, { recursive: true });
    renameSync(`${journal}-elsewhere`, journal);
    expect((await recover()).exitCode).toBe(0);
    for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(6);
    expect(told().slice(before)).toEqual(['opened credited_twice orders']);
    expect(receiver.received.at(-1)?.json).toMatchObject({
      severity: 'error',
      amounts: [{ amount: '1.01', currency: 'EUR' }],
      command: 'npx influencer-sync review',
    });
    const [, entryId = ''] = /"entry_id":"(\d+)"/.exec((await shop.cli('review', '--json')).stdout) ?? [];
    await shop.cli('review', entryId, '--acknowledge', '--reason', 'taken back');
    for (let round = 0; round < 2; round += 1) expect((await shop.run()).exitCode).toBe(0);
    expect(told().slice(before + 1)).toEqual(['resolved credited_twice orders']);
  });
});

describe('sending notices does not affect runs', () => {
  it('a failing channel fails no run and appears in doctor, status and history', async () => {
    const { shop, receiver } = await openDrill();
    receiver.answer(503);
    shop.drop('orders.csv', toCsv([...manyRows(20), { id: 'bad1', revenue: 'twelve' }]));
    expect((await shop.run()).exitCode).toBe(3);
    expect((await shop.run()).exitCode).toBe(0);
    const doctor = await shop.cli('doctor');
    expect(doctor.stdout.replace(/\s+/g, ' ')).toMatch(
      /ops has not accepted notices since .* \(HTTP 503\): 1 waiting/,
    );
    expect((await shop.cli('status')).stdout).toMatch(/ops: 1 notice waiting .*\(HTTP 503\)/);
    const history = await shop.cli('notify', 'history');
    expect(history.stdout).toContain('opened: rows_rejected orders');
    // On a busy machine, the second attempt may already have been made.
    expect(history.stdout).toMatch(/ops pending \(HTTP 503, \d attempts?\),\s+not\s+before\s+2/);
  });

  it('without channels, a run neither looks for problems nor records them', async () => {
    const { shop, receiver } = await openDrill({ notify: '' });
    expect((await shop.run()).exitCode).toBe(2);
    expect(receiver.received).toEqual([]);
    expect(await shop.db.selectFrom('ops.problems').select('kind').execute()).toEqual([]);
  });
});
