import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startCli } from '../support/run-cli.ts';

it('the demo shows on two screens who earned what and what was not credited and why, and writes a report', {
  timeout: 240_000,
}, async () => {
  const result = await startCli(['demo'], { env: { LC_ALL: 'C' } }).ended;
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stderr: '' });
  const lines = result.stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(48);
  expect(lines.filter((line) => line.length > 85)).toEqual([]);
  expect(result.stdout).toMatch(/mira\.glow\.test +4 +4 +229\.46 EUR +27\.12 EUR +#{12,}/);
  expect(result.stdout).toMatch(/unattributed +6 +unknown code 4/);
  expect(result.stdout).toContain('0 posted the second time');
  expect(readFileSync('config/demo/report.html', 'utf8')).toContain('<td class="number">229.46 EUR</td>');
});
