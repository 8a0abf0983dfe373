import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROBLEM_KINDS } from '../../../src/core/notify/notice.ts';
import { problemFinders } from '../../../src/monitoring/notify/problems/index.ts';

const ROOT = new URL('../../../', import.meta.url);

it('every kind of problem has a finder, in the order of the list, and a row in docs/notices.md', () => {
  expect(problemFinders.map(({ kind }) => kind)).toEqual(PROBLEM_KINDS);
  const rows = readFileSync(new URL('docs/notices.md', ROOT), 'utf8').matchAll(
    /^\| `([a-z_]+)` \| (?:error|warning)/gm,
  );
  expect([...rows].map(([, kind]) => kind)).toEqual(PROBLEM_KINDS);
});

it.each(problemFinders.map((finder) => [finder.kind, finder] as const))(
  '%s has a title for messages and a sentence for its resolution',
  (_kind, { title, over }) => {
    expect(title).toMatch(/^[A-Z][a-zA-Z ]{2,29}$/);
    expect(over('orders')).toMatch(/^[A-Za-z].{10,}\.$/);
    expect(over('orders')).not.toContain('null');
  },
);

it('every kind of problem has a drill, which sees it opened and resolved at a real receiver', () => {
  const drills = ['each-problem.long.test.ts', 'drills.long.test.ts', 'serve.long.test.ts']
    .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
    .join('\n');
  // `provokeEach` expects both notices of each `problem`.
  const isDrilled = (kind: string) =>
    drills.includes(`problem: '${kind}'`) ||
    (drills.includes(`opened ${kind} `) && drills.includes(`resolved ${kind} `));
  expect(PROBLEM_KINDS.filter((kind) => !isDrilled(kind))).toEqual([]);
});
