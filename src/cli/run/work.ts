import { InvalidArgumentError } from 'commander';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT } from '../../core/exit-code.ts';
import { refusal } from '../../core/known-error.ts';
import { plural } from '../../core/text/plural.ts';
import { UNIT_KINDS, type UnitKind } from '../../core/work.ts';
import { defineCommand, parseCount } from '../command.ts';

export const workCommand = defineCommand({
  name: 'work',
  summary: 'do work for runs on other machines (work.engine: pg-boss)',
  description:
    'do work for runs on other machines until stopped: read sources, post orders, submit customers and mirror deals (needs work.engine: pg-boss)',
  takes: [
    ['--concurrency <number>', 'number of units of each kind to do at a time', parseCount, 1],
    [
      '--only <kinds>',
      `only these kinds of units, separated by commas: ${UNIT_KINDS.join(', ')}`,
      parseKinds,
    ],
  ],
  examples: [
    ['work', 'one more worker; start as many as you like, on any machine'],
    ['work --concurrency 4 --only read-source', 'read four sources at a time, and post nothing'],
    ['status', 'in another terminal: the workers, and what they are doing'],
  ],
  /**
   * Does units of work until SIGTERM or SIGINT. Then it finishes the requests in flight and returns the rest to
   * the queue.
   * @returns 0 if it stopped in order; 130 if the grace period ended first.
   */
  async action({ output }, options) {
    const { openConfig, withMigratedDatabase } = await import('../open/open-config.ts');
    const { withProcess } = await import('../open/open-process.ts');
    const { openClient } = await import('../open/open-service.ts');
    const { openWork, openWorker } = await import('../open/open-workers.ts');
    const { untilAborted } = await import('../terminal/listen-for-stop.ts');
    const { requireService } = await import('../../config/require-settings.ts');
    const { cancelStatements } = await import('../../db/connect.ts');
    const config = await openConfig(options);
    await requireWorkers(config);
    const api = requireService(config);
    const { concurrency, only: kinds = UNIT_KINDS } = options;
    return withProcess(output, { config, lasts: true }, async ({ log, stopping }) => {
      const client = openClient(api, { connections: api.concurrency * concurrency });
      const progress = { note: (message: string) => log.info(message) };
      return withMigratedDatabase(config, { progress, stopping }, async (db) => {
        const work = await openWork(db, { config, log });
        if (work.queue === null) throw new Error('the engine was checked');
        const worker = await openWorker(db, { config, queue: work.queue, client, log, kinds, concurrency });
        output.emit({ event: 'working', kinds, concurrency });
        output.print(
          `Working: ${kinds.join(', ')}, ${concurrency} at a time each, ${plural(api.concurrency, 'request')} in flight. Stop with Ctrl-C.`,
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
      }).finally(() => client.close());
    });
  },
});

function parseKinds(text: string): readonly UnitKind[] {
  return text.split(',').map((word) => {
    const kind = UNIT_KINDS.find((candidate) => candidate === word.trim());
    if (kind === undefined) throw new InvalidArgumentError(`It should be one of ${UNIT_KINDS.join(', ')}.`);
    return kind;
  });
}

async function requireWorkers(config: PipelineConfig): Promise<void> {
  const isEmbedded = config.database.url === '';
  if (config.work.engine === 'pg-boss' && !isEmbedded) return;
  const { shortPath } = await import('../../config/locate.ts');
  throw refusal({
    code: 'no_work_to_share',
    message: isEmbedded
      ? 'Only one process at a time can open the embedded database, so a worker cannot share its work.'
      : 'Runs do all of their work themselves (work.engine: in-process), so there is nothing for a worker to do.',
    where: shortPath(config.path),
    help: isEmbedded
      ? 'Set DATABASE_URL (database.url) to a Postgres server that all processes can reach, and set work.engine: pg-boss.'
      : 'Set  work: {engine: pg-boss}  in the configuration of all processes that run jobs, and of all workers.',
    safe: 'Nothing was read or sent.',
  });
}
