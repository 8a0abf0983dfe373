import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from the spool: the next run records an answer that was spooled before a kill', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'spooled', dieOnEntry: 2 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  const spooled = await scene.db
    .selectFrom('ledger.answers')
    .select('entry_id')
    .where('via', '=', 'spool')
    .where('applied', '=', true)
    .execute();
  expect(spooled.length).toBeGreaterThan(0);
});
