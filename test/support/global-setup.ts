import type { TestProject } from 'vitest/node';
import { makeGuardedFolder } from './guarded-folder.ts';
import { startPostgresServer } from './postgres-server.ts';
import { chooseTemporaryFolder } from './temporary-folder.ts';
import { prepareDatabases, type SuiteDatabases } from './test-database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databases: SuiteDatabases;
    /** The folders of the tests lie in it; it goes with this process, however that ends. */
    suiteFolder: string;
  }
}

/** One Postgres server for the suite: that of TEST_DATABASE_URL, else one of our own. Each test clones its migrated template. */
export default async function setupSuite(project: TestProject): Promise<() => Promise<void>> {
  process.env.TMPDIR = chooseTemporaryFolder();
  const given = process.env.TEST_DATABASE_URL || null;
  const server = given === null ? await startPostgresServer() : null;
  const { databases, drop } = await prepareDatabases(given ?? server?.url ?? '');
  const folder = makeGuardedFolder();
  // What tests and the processes that they start leave behind goes with it.
  process.env.TMPDIR = folder.path;
  project.provide('databases', databases);
  project.provide('suiteFolder', folder.path);
  return async () => {
    await drop();
    await server?.stop();
    await folder.remove();
  };
}
