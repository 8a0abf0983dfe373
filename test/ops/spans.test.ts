import { expect, it, onTestFinished } from 'vitest';
import { inRunSpan, inSpan, recordLeaf, type Tracing, useTracing } from '../../src/ops/spans.ts';

it('work is recorded only while somebody traces it, and is done as well without', async () => {
  onTestFinished(() => useTracing(undefined));
  const recorded: string[] = [];
  const tracing: Tracing = {
    inRunSpan: ({ name }, work) => {
      recorded.push(`run ${name}`);
      return work({ traceId: 'f00', describe: () => {}, fail: () => {}, enterStep: () => {} });
    },
    inSpan: ({ name }, work) => {
      recorded.push(name);
      return work({ describe: () => {} });
    },
    recordLeaf: (leaf, { seconds }) => void recorded.push(`${leaf} ${seconds}`),
  };
  const start = (name: string) => ({ name, attributes: {} });
  const describe = () => start('ask');
  const work = () =>
    inRunSpan(start('orders'), (run) =>
      inSpan(start('read'), async () => {
        recordLeaf('request', { seconds: 2, failure: null, describe });
        return run.traceId;
      }),
    );
  expect(await work()).toBeNull();
  useTracing(tracing);
  expect(await work()).toBe('f00');
  expect(recorded).toEqual(['run orders', 'read', 'request 2']);
  useTracing(undefined);
  expect(await work()).toBeNull();
  expect(recorded).toHaveLength(3);
});
