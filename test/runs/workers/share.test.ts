import { describe, expect, it } from 'vitest';
import type { RunStop } from '../../../src/core/run.ts';
import type { Spread, UnitEnd } from '../../../src/core/work.ts';
import type { Run } from '../../../src/ops/run.ts';
import { spreadShares } from '../../../src/runs/workers/share.ts';

const STOP: RunStop = { kind: 'unauthorised', message: 'The service refused the key.' };
const CUT_SHORT: UnitEnd = { kind: 'done', result: { notes: [], stop: STOP } };
const FAILED = failedWith('ledger_differs');
const FAILED_LATER = failedWith('worker_differs');

describe('what became of the shares of a run', () => {
  it.each([
    { title: 'a stop', ends: [CUT_SHORT], stop: STOP, problem: null },
    { title: 'a stop before a failure', ends: [CUT_SHORT, FAILED], stop: STOP, problem: 'ledger_differs' },
    { title: 'a failure before a stop', ends: [FAILED, CUT_SHORT], stop: null, problem: 'ledger_differs' },
    { title: 'the first failure', ends: [FAILED, FAILED_LATER], stop: null, problem: 'ledger_differs' },
  ])('is $title, in the order in which they ended', async ({ ends, stop, problem }) => {
    const told: RunStop[] = [];
    const shares = await spreadShares(runThatEnds(ends), {
      kind: 'post-share',
      consequence: '',
      cut: async () => [],
      onStop: (one) => told.push(one),
    });
    expect([shares.stop, shares.problem?.code ?? null]).toEqual([stop, problem]);
    expect(told).toEqual(stop === null ? [] : [stop]);
  });
});

function failedWith(code: string): UnitEnd {
  return { kind: 'failed', problem: { code, message: code, help: '', exitCode: 2 } };
}

/** A run whose shares end in this order. The one that ended last was handed out first. */
function runThatEnds(ends: readonly UnitEnd[]): Run {
  const spread: Spread = async ({ onEnd }) => {
    for (const end of ends) onEnd(end);
    return ends.toReversed();
  };
  return { spread, progress: { note() {} } } as unknown as Run;
}
