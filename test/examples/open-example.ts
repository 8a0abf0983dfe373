import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { RunFinished } from '../../src/core/run.ts';
import type { Database } from '../../src/db/connect.ts';
import { readEvents } from '../support/run-cli.ts';
import { runHere } from '../support/run-here.ts';
import { type Service, startService } from '../support/sandbox-process.ts';
import { setup } from '../support/setup.ts';

export type Example = {
  readonly db: Database;
  readonly sandbox: Service;
  /** Runs a job to its end and returns its counts. */
  run(job: string): Promise<Pick<RunFinished, 'exit_code' | 'counts'>>;
};

/**
 * Creates a copy of a folder of examples/, a sandbox as it starts without `--data`, and a database.
 *
 * @param env variables in addition to the service, the database and the key of customers.
 */
export async function openExample(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Example> {
  const { db, databaseUrl, folder } = await setup();
  cpSync(new URL(`../../examples/${name}`, import.meta.url), folder, { recursive: true });
  const sandbox = await startService();
  const surroundings = {
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    DATABASE_URL: databaseUrl,
    CUSTOMER_HASH_KEY: '0123456789abcdef'.repeat(4),
    INFLUENCER_SYNC_CONFIG: join(folder, 'pipeline.yaml'),
    ...env,
  };
  return {
    db,
    sandbox,
    async run(job) {
      const result = await runHere(['run', job, '--json'], { cwd: folder, env: surroundings });
      const finished = readEvents(result).find(({ event }) => event === 'run_finished');
      if (finished === undefined) throw new Error(`the run ended with ${result.exitCode}: ${result.stderr}`);
      return finished as RunFinished;
    },
  };
}
