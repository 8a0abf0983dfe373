import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('A Node that cannot run TypeScript is told which one can, without a stack trace', () => {
  // What an older Node lacks, this one can be told to do without.
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--no-experimental-strip-types', 'src/start.js', '--help'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`This Node cannot run TypeScript: ${process.version} (${process.execPath}).`);
  expect(stderr).toContain('npx influencer-sync');
  expect(stderr).not.toContain('    at ');
});
