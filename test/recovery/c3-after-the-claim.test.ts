import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from sending: killed after the claim and before the write, an order that was never sent is in doubt, and is not sent', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'after_claim', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithTruth();
  expectGuarantees(comparison, 20);
  expect(comparison.falseDoubts).toBeGreaterThan(0);
}, 60_000);
