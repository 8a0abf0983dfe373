import { shortPath } from '../../config/locate.ts';
import { requireService } from '../../config/require-settings.ts';
import type { PipelineConfig } from '../../core/config.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { UNIT_KINDS } from '../../core/work.ts';
import { cancelStatements } from '../../db/connect.ts';
import { createLogger } from '../../monitoring/observe/logger.ts';
import type { WorkOptions } from '../commands/run/work.ts';
import { openConfig, warnOfPlainConnections, withMigratedDatabase } from '../open/open-config.ts';
import { openClient } from '../open/open-service.ts';
import { openWork, openWorker } from '../open/open-workers.ts';
import { listenForStop, untilAborted } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';

/**
 * Does units of work until SIGTERM or SIGINT. Then it finishes the requests in flight and returns the rest to
 * the queue.
 *
 * @returns 0 if it stopped in order; 130 if the grace period ended first.
 * @throws KnownError about the configuration (exit 2) or the database.
 */
export async function performWork(output: Output, options: WorkOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  requireWorkers(config);
  const api = requireService(config);
  warnOfPlainConnections(config, output);
  const log = createLogger({ level: process.env.LOG_LEVEL, isInteractive: false });
  const stopping = listenForStop({
    warn: () => log.info('stopping after the requests in flight; signal again to stop at once'),
  });
  const { concurrency, only: kinds = UNIT_KINDS } = options;
  const client = openClient(api, { connections: api.concurrency * concurrency });
  const progress = { note: (message: string) => log.info(message) };
  try {
    return await withMigratedDatabase(config, { progress, stopping }, async (db) => {
      const work = await openWork(db, { config, log });
      if (work.queue === null) throw new Error('the engine was checked');
      const worker = await openWorker(db, { config, queue: work.queue, client, log, kinds, concurrency });
      output.emit({ event: 'working', kinds, concurrency });
      output.print(
        `Working: ${kinds.join(', ')}, ${concurrency} at a time each, ${api.concurrency} requests in flight. Stop with Ctrl-C.`,
      );
      await untilAborted(stopping.signal);
      const timer = setTimeout(() => {
        log.error('the grace period is over; requests in flight are in doubt');
        void cancelStatements(db).finally(() => process.exit(EXIT.interrupted));
      }, config.serve.graceSeconds * 1_000);
      await worker.stop();
      await work.close();
      clearTimeout(timer);
      log.info('stopped');
      return EXIT.ok;
    });
  } finally {
    stopping.ignore();
    await client.close();
  }
}

/** @throws KnownError (exit 2) if no run would share work with a worker. */
function requireWorkers(config: PipelineConfig): void {
  const isEmbedded = config.database.url === '';
  if (config.work.engine === 'pg-boss' && !isEmbedded) return;
  throw new KnownError({
    code: 'no_work_to_share',
    message: isEmbedded
      ? 'Only one process at a time can open the embedded database, so a worker cannot share its work.'
      : 'Runs do all of their work themselves (work.engine: in-process), so there is nothing for a worker to do.',
    where: shortPath(config.path),
    help: isEmbedded
      ? 'Set DATABASE_URL (database.url) to a Postgres server that all processes can reach, and set work.engine: pg-boss.'
      : 'Set  work: {engine: pg-boss}  in the configuration of all processes that run jobs, and of all workers.',
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.configuration,
  });
}
