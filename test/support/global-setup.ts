import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { packageFile } from '../../src/core/package.ts';
import { describeWaiting } from './absent-server.ts';
import { makeGuardedFolder } from './guarded-folder.ts';
import { ServerUnavailable } from './postgres-binaries.ts';
import { startPostgresServer } from './postgres-server.ts';
import { chooseTemporaryFolder } from './temporary-folder.ts';
import { prepareDatabases, type SuiteDatabases } from './test-database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Null if no server can run. */
    databases: SuiteDatabases | null;
    /** What `node` starts for a process of `influencer-sync`. */
    program: string;
    /** Parent folder of the tests' folders. It is removed when this process ends, however it ends. */
    suiteFolder: string;
  }
}

/**
 * Provides one Postgres server for the suite: that of TEST_DATABASE_URL, or one of our own. Each test clones
 * its migrated template. If no server can run, the tests that need one are skipped, and the run ends with
 * exit code 1.
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
  // The long tests start hundreds of processes: what is built, which users run, loads in half the time of the sources. The other
  // tests start the sources.
  const program =
    project.vite.config.mode === 'long'
      ? await (await import('../../tools/package/build-program.ts')).buildProgram(
          join(folder.path, 'program'),
        )
      : fileURLToPath(packageFile('src/start.js'));
  // Everything that tests and their processes leave behind is removed with it.
  process.env.TMPDIR = folder.path;
  // The location that `src/start.js` uses too, so that code started with Node is compiled only once.
  process.env.NODE_COMPILE_CACHE = join(folder.path, 'node-compile-cache');
  project.provide('databases', suite?.databases ?? null);
  project.provide('program', program);
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
