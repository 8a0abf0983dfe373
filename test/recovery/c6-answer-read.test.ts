import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from sending: an order whose answer was read but not recorded before a kill is in doubt', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'answer_read', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  expect(comparison.doubts - comparison.falseDoubts).toBeGreaterThan(0);
});
