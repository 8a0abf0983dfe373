import type { Logger } from 'pino';
import type { PipelineConfig } from '../../config/schema.ts';
import { addConsole } from '../../console/add-console.ts';
import { connect, type Database } from '../../db/connect.ts';
import type { HttpServer } from '../../monitoring/observe/start-observer.ts';
import { readOperator } from '../terminal/read-operator.ts';

/** Time limit of one statement of a page, after which the page shows an error. */
const STATEMENT_LIMIT_MS = 5_000;
const CONNECTIONS = 4;
/**
 * `work_mem` of the pages. They sum up tens of thousands of deals, which Postgres would sort on disk with its
 * default of 4 MB.
 */
const SORT_MEMORY_MB = 32;

/**
 * Prepares the console for a server. Its pages read on their own connections, so that many readers do not
 * delay a run or the scheduler. The embedded database has only one connection, which is shared.
 *
 * @param options.db connection for people's changes.
 * @param options.onLoaded called when the pages have been loaded, with the first request.
 */
export async function openConsole({
  config,
  db,
  host,
  log,
  onLoaded = () => {},
}: {
  config: PipelineConfig;
  db: Database;
  host: string;
  log: Logger;
  onLoaded?: () => void;
}): Promise<{ readonly add: (server: HttpServer) => void; close(): Promise<void> }> {
  const { url, dataFolder } = config.database;
  const readDb =
    url === ''
      ? db
      : await connect({
          url,
          embeddedFolder: dataFolder,
          maxConnections: CONNECTIONS,
          purpose: 'console',
          statementLimitMs: STATEMENT_LIMIT_MS,
          sortMemoryMb: SORT_MEMORY_MB,
        });
  return {
    add: (server) =>
      addConsole(server, {
        readDb,
        db,
        config,
        host,
        localActor: readOperator(),
        onLoaded,
        onError: (error) => log.error(error instanceof Error ? error : {}, 'a page or a bulk action failed'),
      }),
    close: async () => {
      if (readDb !== db) await readDb.destroy();
    },
  };
}
