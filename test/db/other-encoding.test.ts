import { randomInt } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { openWorkshop } from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { runStatement, urlOf } from '../support/test-database.ts';

it('a database that cannot store every letter is refused at once, with the reason', async () => {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}latin1_${randomInt(2 ** 31)}`;
  await runStatement(serverUrl, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  onTestFinished(() => runStatement(serverUrl, `drop database ${name} with (force)`));
  const shop = await openWorkshop();
  shop.env.DATABASE_URL = urlOf(serverUrl, name);
  for (const args of [['run', 'orders'], ['migrate'], ['status']]) {
    const { exitCode, stderr } = await shop.cli(...args);
    expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('the encoding LATIN1'),
    ]);
  }
});
