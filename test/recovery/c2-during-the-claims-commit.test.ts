import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

const CLAIM = 'insert into ledger.attempts';

it('continues from ready: a run killed before its claim reaches the database has claimed and sent nothing', async () => {
  const scene = await setScene(10);
  const killed = await scene.startPosting({
    wire: {
      onRequest: (bytes) => {
        if (!bytes.includes(CLAIM)) return 'forward';
        killed.process.kill('SIGKILL');
        return 'drop';
      },
    },
  });
  expect(await killed.ended).toBe('SIGKILL');
  expect(await scene.sandbox.referrals()).toEqual([]);
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 10);
  expect(comparison.doubts).toBe(0);
});

it('continues from sending: a run killed before it learns of its committed claim has sent nothing, and the next run posts the orders', async () => {
  const scene = await setScene(10);
  const claiming = new Set<number>();
  const killed = await scene.startPosting({
    wire: {
      onRequest: (bytes, connection) => {
        if (bytes.includes(CLAIM)) claiming.add(connection);
        return 'forward';
      },
      onAnswer: (_bytes, connection) => {
        if (!claiming.has(connection)) return 'forward';
        killed.process.kill('SIGKILL');
        return 'drop';
      },
    },
  });
  expect(await killed.ended).toBe('SIGKILL');
  expect(await scene.sandbox.referrals()).toEqual([]);
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 10);
  expect(comparison).toMatchObject({ doubts: 0, accepted: 10 });
});

it('a run whose connection is cut at the commit of a claim reads the claim back and sends each order once', async () => {
  const scene = await setScene(10);
  let cuts = 0;
  const claiming = new Set<number>();
  const posting = await scene.startPosting({
    wire: {
      onRequest: (bytes, connection) => {
        if (bytes.includes(CLAIM)) claiming.add(connection);
        return 'forward';
      },
      onAnswer: (_bytes, connection) => {
        if (!claiming.has(connection) || cuts > 0) return 'forward';
        cuts += 1;
        return 'drop';
      },
    },
  });
  expect(await posting.ended).toBe(0);
  expect(cuts).toBe(1);
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 10);
  expect(comparison.accepted).toBe(10);
});
