import { expect, it } from 'vitest';
import { jobKinds } from '../jobs/index.ts';
import { jobKinds as configuredKinds } from '../src/config/jobs/index.ts';

it('every kind of job that a configuration may name has a flow in jobs/index.ts, and every flow a kind: add the missing line', () => {
  const configured = configuredKinds.map((schema) => schema.in.shape.kind.value);
  expect(jobKinds.map(({ kind }) => kind).toSorted()).toEqual(configured.toSorted());
});

it('every kind of job says in one line what it does', () => {
  for (const { kind, summary } of jobKinds) expect(summary, kind).toMatch(/^[a-z].{10,79}$/);
});
