import { expect, it } from 'vitest';
import type { CheckResult } from '../../../src/core/checks/check-result.ts';
import { openSourceChecks } from '../../../src/intake/checks/check-files.ts';
import { sourceSettings } from '../../store/source-settings.ts';
import { setup } from '../../support/setup.ts';

/** Judges files of a source that has never been read, each with one column, and learns them. */
async function openJudge() {
  const { db } = await setup();
  const checks = openSourceChecks(db, { source: sourceSettings('/exports/'), readFor: 'orders' });
  return async (day: number, column: string): Promise<CheckResult | undefined> => {
    const arrivedAt = new Date(Date.UTC(2026, 3, day));
    const file = { uri: `file:///${day}.csv`, version: 'v1', sizeBytes: 1, modifiedAt: arrivedAt };
    const { check, learn } = await checks.begin(file, () => [column]);
    const results = check.judge(
      {
        sourceFileId: String(day),
        arrivedAt,
        sizeBytes: 1,
        rows: 1,
        rejectedRows: 0,
        header: [column],
        headerHash: column,
        orders: null,
        consent: null,
      },
      { isReread: false },
    );
    learn();
    return results.find((result) => result.check === 'header');
  };
}

it('a file is compared with the one that arrived last before it, in whatever order files are read', async () => {
  const judge = await openJudge();
  for (const [day, column] of [
    [1, 'A'],
    [4, 'D'],
    [2, 'B'],
    [3, 'C'],
  ] as const)
    await judge(day, column);
  expect(await judge(5, 'E')).toMatchObject({ message: 'The column "D" is now called "E".' });
});
