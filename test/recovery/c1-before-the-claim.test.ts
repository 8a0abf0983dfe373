import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from ready: a run killed before it claims an entry leaves the entry to the next run, which sends it once', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'before_claim', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  expect(comparison.accepted).toBeGreaterThan(20 - 6);
});
