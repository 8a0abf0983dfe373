import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from sending: orders in flight at a kill are in doubt, even if the service processed them', async () => {
  const scene = await setScene(20);
  await scene.sandbox.setFaults([{ operation: 'new_influencer_referral', kind: 'stall_body', count: 2 }]);
  const killed = await scene.startPosting({});
  await waitFor(async () => (await scene.sandbox.referrals()).length >= 2);
  killed.process.kill('SIGKILL');
  await killed.ended;
  await scene.sandbox.setFaults(null);
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  expect(comparison.doubts - comparison.falseDoubts).toBeGreaterThan(0);
});
