import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from sending: an order whose request was cut off by a kill is in doubt and is not sent again', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'mid_write', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  expect(comparison.doubts).toBeGreaterThan(0);
});
