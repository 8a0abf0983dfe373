import { spawn } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgresServer } from './postgres-server.ts';
import { waitFor } from './wait-for.ts';

it('a server of one test keeps what was committed when it is killed, and when it is restarted', async () => {
  const server = await startPostgresServer();
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

it('a server ends with the process that started it, also when that is killed', async () => {
  const script = new URL('postgres-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = line.toString().trim();
  expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  child.kill('SIGKILL');
  await waitFor(() =>
    query(url, 'select').then(
      () => false,
      () => true,
    ),
  );
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
