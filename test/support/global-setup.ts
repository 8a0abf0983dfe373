import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { describeWaiting } from './absent-server.ts';
import { makeGuardedFolder } from './guarded-folder.ts';
import { ServerUnavailable } from './postgres-binaries.ts';
import { startPostgresServer } from './postgres-server.ts';
import { chooseTemporaryFolder } from './temporary-folder.ts';
import { prepareDatabases, type SuiteDatabases } from './test-database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Null where no server can run. */
    databases: SuiteDatabases | null;
    /** The folders of the tests lie in it; it goes with this process, however that ends. */
    suiteFolder: string;
  }
}

/**
 * One Postgres server for the suite: that of TEST_DATABASE_URL, else one of our own. Each test clones its migrated template. Where no
 * server can run, the tests that need one are skipped, and the run ends with exit code 1.
 */
export default async function setupSuite(project: TestProject): Promise<() => Promise<void>> {
  process.env.TMPDIR = chooseTemporaryFolder();
  const given = process.env.TEST_DATABASE_URL || null;
  const server = given === null ? await startPostgresServer().catch(onlyUnavailable) : null;
  const unavailable = server instanceof ServerUnavailable ? server : null;
  const own = server instanceof ServerUnavailable ? null : server;
  const suite =
    unavailable === null
      ? await prepareDatabases(given ?? own?.url ?? '', given === null ? 'file_copy' : 'wal_log')
      : null;
  const folder = makeGuardedFolder();
  // What tests and the processes that they start leave behind goes with it.
  process.env.TMPDIR = folder.path;
  // Where `src/start.js` has its own: whatever tests start with Node is compiled once.
  process.env.NODE_COMPILE_CACHE = join(folder.path, 'node-compile-cache');
  project.provide('databases', suite?.databases ?? null);
  project.provide('suiteFolder', folder.path);
  return async () => {
    const waiting = unavailable === null ? null : describeWaiting(folder.path, unavailable.message);
    await suite?.drop();
    await own?.stop();
    await folder.remove();
    if (waiting === null) return;
    process.stderr.write(waiting);
    process.exitCode = 1;
  };
}

function onlyUnavailable(error: unknown): ServerUnavailable {
  if (error instanceof ServerUnavailable) return error;
  throw error;
}
