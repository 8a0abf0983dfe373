import { expect, it } from 'vitest';
import { groupCommit, MAX_ITEMS } from '../../src/ledger/group-commit.ts';

it('concurrent items are committed together, and each gets its own result', async () => {
  const groups: number[][] = [];
  const double = groupCommit(async (items: readonly number[]) => {
    groups.push([...items]);
    return items.map((item) => item * 2);
  });
  expect(await Promise.all([double(1), double(2), double(3)])).toEqual([2, 4, 6]);
  expect(groups).toEqual([[1, 2, 3]]);
});

it('the next group is collected during a commit', async () => {
  const groups: number[][] = [];
  const { promise: firstIsDone, resolve: finishFirst } = Promise.withResolvers<void>();
  const commit = groupCommit(async (items: readonly number[]) => {
    groups.push([...items]);
    if (groups.length === 1) await firstIsDone;
    return items;
  });
  const first = commit(1);
  await new Promise(setImmediate);
  const others = [commit(2), commit(3)];
  finishFirst();
  await Promise.all([first, ...others]);
  expect(groups).toEqual([[1], [2, 3]]);
});

it('what the callers of one group do next joins the next group, although another item waits already', async () => {
  const groups: number[][] = [];
  const { promise: firstIsDone, resolve: finishFirst } = Promise.withResolvers<void>();
  const commit = groupCommit(async (items: readonly number[]) => {
    groups.push([...items]);
    if (groups.length === 1) await firstIsDone;
    return items;
  });
  async function commitTwice(): Promise<void> {
    await commit(1);
    for (let steps = 0; steps < 20; steps += 1) await null;
    await commit(2);
  }
  const twice = commitTwice();
  await new Promise(setImmediate);
  const waiting = commit(3);
  finishFirst();
  await Promise.all([twice, waiting]);
  expect(groups).toEqual([[1], [3, 2]]);
});

it('a group never exceeds the maximum size', async () => {
  const sizes: number[] = [];
  const commit = groupCommit(async (items: readonly number[]) => {
    sizes.push(items.length);
    return items;
  });
  await Promise.all(Array.from({ length: 2 * MAX_ITEMS + 1 }, (_, item) => commit(item)));
  expect(sizes).toEqual([MAX_ITEMS, MAX_ITEMS, 1]);
});

it('a failed commit rejects its whole group, and only that group', async () => {
  let calls = 0;
  const commit = groupCommit(async (items: readonly number[]) => {
    calls += 1;
    if (calls === 1) throw new Error('the database is away');
    return items;
  });
  const results = await Promise.allSettled([commit(1), commit(2)]);
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(await commit(3)).toBe(3);
});
