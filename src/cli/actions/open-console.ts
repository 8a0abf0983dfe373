import type { Logger } from 'pino';
import { addConsole } from '../../console/add-console.ts';
import { connect, type Database } from '../../db/connect.ts';
import type { PipelineConfig } from '../../model/config.ts';
import type { HttpServer } from '../../observe/start-observer.ts';
import { readOperator } from '../terminal/read-operator.ts';

/** Pages wait so long for one statement, and then say so. */
const STATEMENT_LIMIT_MS = 5_000;
const CONNECTIONS = 4;

/**
 * Prepares the console for a server. Its pages read on connections of their own, so that many readers do not keep a run, or the schedule,
 * waiting; the embedded database has one connection, which all share.
 *
 * @param options.db for what people change.
 */
export async function openConsole({
  config,
  db,
  host,
  log,
}: {
  readonly config: PipelineConfig;
  readonly db: Database;
  /** Address that the server listens on. */
  readonly host: string;
  readonly log: Logger;
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
        });
  return {
    add: (server) =>
      addConsole(server, {
        readDb,
        db,
        config,
        host,
        localActor: readOperator(),
        onError: (error) => log.error(error instanceof Error ? error : {}, 'a page or a bulk action failed'),
      }),
    close: async () => {
      if (readDb !== db) await readDb.destroy();
    },
  };
}
