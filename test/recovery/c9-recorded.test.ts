import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

it('continues from accepted: an order whose answer was recorded before a kill is not sent again', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'recorded', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  const first = await scene.db
    .selectFrom('ledger.answers')
    .select('entry_id')
    .where('kind', '=', 'accepted')
    .orderBy('answer_id')
    .executeTakeFirstOrThrow();
  const attempts = await scene.db
    .selectFrom('ledger.attempts')
    .select('attempt')
    .where('entry_id', '=', first.entry_id)
    .execute();
  expect(attempts).toHaveLength(1);
});
