import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

const RECORD = 'backoff_ms bigint';

it('continues from accepted: an answer committed before a kill stays recorded, although the run did not learn of the commit', async () => {
  const scene = await setScene(20);
  const recording = new Set<number>();
  const killed = await scene.startPosting({
    wire: {
      onRequest: (bytes, connection) => {
        if (bytes.includes(RECORD)) recording.add(connection);
        return 'forward';
      },
      onAnswer: (_bytes, connection) => {
        if (!recording.has(connection)) return 'forward';
        killed.process.kill('SIGKILL');
        return 'drop';
      },
    },
  });
  expect(await killed.ended).toBe('SIGKILL');
  const recorded = await scene.db
    .selectFrom('ledger.answers')
    .select('entry_id')
    .where('kind', '=', 'accepted')
    .execute();
  expect(recorded.length).toBeGreaterThan(0);
  await scene.continuePosting();
  expectGuarantees(await scene.compareWithSandbox(), 20);
});

it('a run whose connection is cut at the commit of an answer spools the answer and leaves nothing in doubt', async () => {
  const scene = await setScene(6);
  let cuts = 0;
  const recording = new Set<number>();
  const posting = await scene.startPosting({
    wire: {
      onRequest: (bytes, connection) => {
        if (bytes.includes(RECORD)) recording.add(connection);
        return 'forward';
      },
      onAnswer: (_bytes, connection) => {
        if (!recording.has(connection) || cuts > 0) return 'forward';
        cuts += 1;
        return 'drop';
      },
    },
  });
  expect(await posting.ended).toBe(0);
  expect(cuts).toBe(1);
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 6);
  expect(comparison.doubts).toBe(0);
});
