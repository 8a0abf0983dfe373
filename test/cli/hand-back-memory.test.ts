import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { handBackMemory } from '../../src/cli/run/hand-back-memory.ts';

it('unreachable objects are collected without an option of Node', async () => {
  expect(process.execArgv.join(' ')).not.toContain('expose-gc');
  const held = { rows: [1] };
  const references = { held: new WeakRef(held), garbage: new WeakRef({ rows: [2] }) };
  // The target of a weak reference stays alive until the task that created the reference has ended.
  await sleep(1);

  handBackMemory();

  expect(references.garbage.deref()).toBeUndefined();
  expect(references.held.deref()).toBe(held);
});
