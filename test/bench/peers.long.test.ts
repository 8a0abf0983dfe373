import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeTestFolder } from '../support/setup.ts';

const BENCH = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));

/** What the start and the end of a Postgres server need of the machine. */
const OF_THE_MACHINE = ['chown', 'rm', 'sleep', 'cat'];

type Figure = { readonly name: string; readonly value: number; readonly unit: string };

it('without Python, Go and psql, the comparison with other tools says which it skips, and measures ours', () => {
  const empty = makeTestFolder();
  for (const name of OF_THE_MACHINE)
    for (const path of [`/bin/${name}`, `/usr/bin/${name}`])
      if (existsSync(path) && !existsSync(join(empty, name))) symlinkSync(path, join(empty, name));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [BENCH, 'peers', '--json', '--rows', '40', '--posts', '20'],
    { encoding: 'utf8', env: { ...process.env, PATH: empty, XDG_CACHE_HOME: empty } },
  );
  const skipped = stderr.split('\n').filter((line) => line.includes(' is skipped'));
  expect(skipped).toEqual([
    '40 rows into Postgres: psql \\copy into text columns is skipped, because psql was not found.',
    ...['append', 'merge', 'merge again'].map(
      (how) => `40 rows into Postgres: dlt ${how} is skipped, because Python (python3) was not found.`,
    ),
    '40 rows into Postgres: Benthos, six columns in batches of 5,000 is skipped, because Go was not found.',
    '20 orders to the sandbox: Benthos http_client, 64 in flight, no ledger is skipped, because Go was not found.',
    '20 orders to the sandbox: drt is skipped, because Python (python3) was not found.',
  ]);
  const figures = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Figure);
  expect(figures.map(({ name, unit }) => `${name} (${unit})`)).toEqual([
    '40 rows into Postgres: ours (s)',
    '40 rows into Postgres: csv-parse alone, nothing stored ÷ ours (ratio)',
    '20 orders to the sandbox: ours (s)',
  ]);
  for (const { value } of figures) expect(value).toBeGreaterThan(0);
});
