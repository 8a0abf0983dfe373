import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, inject, TestRunner } from 'vitest';
import { ServerUnavailable } from './postgres-binaries.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';
import type { SuiteDatabases } from './test-database.ts';

/**
 * Handles tests if no Postgres server can run: tests that need none still run, the others are skipped and
 * counted. A run in which tests were skipped for this reason does not pass.
 */
const LIST = 'waiting-tests';

/** The databases of the suite. If there are none, the current test is skipped and counted as waiting. */
export function suiteDatabases(): SuiteDatabases {
  const databases = inject('databases');
  if (databases !== null) return databases;
  const test = TestRunner.getCurrentTest();
  appendFileSync(join(inject('suiteFolder'), LIST), `${test?.id}\n`);
  return skipTest('waits for TEST_DATABASE_URL: no Postgres server runs here');
}

/**
 * Starts a server for the tests of a file, which may restart and kill it. If no server can run, the tests are
 * skipped. They count as waiting only if TEST_DATABASE_URL is not set, because no other server can replace
 * this one.
 */
export function useServer(): () => PostgresServer {
  let server: PostgresServer | ServerUnavailable;
  beforeAll(async () => {
    server = await tryServer();
  });
  beforeEach(() => void orSkip(server));
  afterAll(async () => {
    if (!(server instanceof ServerUnavailable)) await server.stop();
  });
  return () => orSkip(server);
}

/** Like {@link useServer}, but for one test, which must stop the server. */
export async function startServer(...user: Parameters<typeof startPostgresServer>): Promise<PostgresServer> {
  return orSkip(await tryServer(...user));
}

function tryServer(
  ...user: Parameters<typeof startPostgresServer>
): Promise<PostgresServer | ServerUnavailable> {
  return startPostgresServer(...user).catch((error: unknown) => {
    if (error instanceof ServerUnavailable) return error;
    throw error;
  });
}

function orSkip(server: PostgresServer | ServerUnavailable): PostgresServer {
  if (!(server instanceof ServerUnavailable)) return server;
  suiteDatabases();
  // The suite's own server runs on this machine, so the machine is not the cause.
  if (!process.env.TEST_DATABASE_URL) throw server;
  return skipTest(`needs a Postgres server of its own: ${server.message}`);
}

function skipTest(note: string): never {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error(`${note}. Only a test can be skipped: call this in one.`);
  return test.context.skip(note);
}

/**
 * Describes the waiting tests at the end of a run. Null if there are none.
 *
 * @param folder folder of the suite.
 * @param reason why no server runs.
 */
export function describeWaiting(folder: string, reason: string): string | null {
  const list = join(folder, LIST);
  if (!existsSync(list)) return null;
  const tests = new Set(readFileSync(list, 'utf8').trimEnd().split('\n'));
  return `\n${tests.size} ${tests.size === 1 ? 'test' : 'tests'} waited for TEST_DATABASE_URL, because no Postgres server runs here: ${reason}.
Set it to a Postgres server (version 15 or later, a user that may create databases), and run them again.
The run did not pass: exit code 1.\n`;
}
