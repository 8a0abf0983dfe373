import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { startBulkWorker } from '../../src/console/bulk-worker.ts';
import { connect } from '../../src/db/connect.ts';
import { inPhase } from '../../src/db/phase.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { runStatement, urlOf } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';

it('a new database that is not migrated yet is no error of bulk actions', async () => {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}bulk_worker`;
  await runStatement(serverUrl, `create database ${name}`);
  const db = await connect({ url: urlOf(serverUrl, name), embeddedFolder: '' });
  onTestFinished(() => db.destroy());
  const errors: unknown[] = [];
  let statements = 0;
  const onStatement = (): void => {
    statements += 1;
  };
  const worker = await inPhase({ onStatement }, async () =>
    startBulkWorker({
      db,
      config: loadConfig(fileURLToPath(new URL('../../config/pipeline.yaml', import.meta.url)), {}),
      leaseMs: 4_000,
      mayDecide: async () => {},
      onError: (error) => errors.push(error),
    }),
  );
  await inPhase({ onStatement }, () =>
    waitFor(() => {
      worker.wake();
      return statements >= 3;
    }),
  );
  await worker.stop();
  expect(errors).toEqual([]);
});
