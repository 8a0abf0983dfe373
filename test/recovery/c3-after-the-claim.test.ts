import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

/**
 * Returns the number of requests that a killed process had begun to write without getting an answer,
 * according to its journal.
 */
function readBegun(folder: string): number {
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.open.ndjson'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
  const count = (start: string) => lines.filter((line) => line.startsWith(start)).length;
  return count('{"writing"') - count('{"answer"');
}

it('continues from sending: after a kill between claim and write, the journal proves that the order was not sent, and it is posted', async () => {
  const scene = await setScene(20);
  const killed = await scene.startPosting({ dieAt: 'after_claim', dieOnEntry: 5 });
  expect(await killed.ended).toBe('SIGKILL');
  const begun = readBegun(join(scene.folder, 'journal'));
  await scene.continuePosting();
  const comparison = await scene.compareWithSandbox();
  expectGuarantees(comparison, 20);
  // Only requests whose write had begun may be in doubt. The claim at which the process died had not been
  // written.
  expect(comparison.doubts).toBeLessThanOrEqual(begun);
  expect(begun).toBeLessThan(5);
});
