import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { startServer, suiteDatabases } from './absent-server.ts';
import { makeTestFolder } from './setup.ts';
import { waitFor } from './wait-for.ts';

it('a private server keeps committed data across a kill and a restart', async () => {
  const server = await startServer();
  onTestFinished(() => server.stop());
  await query(server.url, 'create table kept (n int)');
  await query(server.url, 'insert into kept values (1)');
  await server.kill();
  await expect(query(server.url, 'select')).rejects.toThrow('ECONNREFUSED');
  await server.start();
  await query(server.url, 'insert into kept values (2)');
  await server.restart();
  expect(await query(server.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
});

it('a server ends with the process that started it, even if that process is killed', async () => {
  suiteDatabases();
  const script = new URL('postgres-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = line;
    break;
  }
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  child.kill('SIGKILL');
  await waitFor(() =>
    query(url, 'select').then(
      () => false,
      () => true,
    ),
  );
});

it.skipIf(process.getuid?.() !== 0)(
  'a server runs as a user without a passwd entry, as in a container with an arbitrary uid',
  async () => {
    const uid = 1_234_567;
    expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${uid}:`);
    const server = await startServer({ uid, gid: uid });
    onTestFinished(() => server.stop());
    expect(await query(server.url, 'select current_user as name')).toEqual([{ name: 'postgres' }]);
    await server.restart();
    expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  },
);

it('the folder of a server is accessible to its user, even if TMPDIR is private to root', async () => {
  const own = join(makeTestFolder(), 'own');
  mkdirSync(own);
  chmodSync(own, 0o700);
  const { TMPDIR = '' } = process.env;
  onTestFinished(() => {
    process.env.TMPDIR = TMPDIR;
  });
  process.env.TMPDIR = own;
  const server = await startServer();
  onTestFinished(() => server.stop());
  expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
});

async function query(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
