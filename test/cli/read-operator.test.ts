import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const MODULE = new URL('../../src/cli/terminal/read-operator.ts', import.meta.url).href;
const NAMELESS = 1_234_567;

it.skipIf(process.getuid?.() !== 0)('a user without an entry in passwd is recorded by uid', () => {
  // The module is loaded before the user changes, because only root may be able to read the checkout.
  const script = `
    const { readOperator } = await import(${JSON.stringify(MODULE)});
    process.setgid(${NAMELESS});
    process.setuid(${NAMELESS});
    process.stdout.write(readOperator());
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  expect({ stdout, stderr }).toEqual({ stdout: `uid ${NAMELESS}`, stderr: '' });
});
