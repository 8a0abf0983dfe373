import { shortPath } from '../../config/locate.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { refusal } from '../../core/known-error.ts';
import { migrate } from '../../db/migrate.ts';
import { createEventStore } from '../../ledger/receiver/receive-event.ts';
import { startReceiver } from '../../ledger/receiver/start-receiver.ts';
import { createLogger } from '../../monitoring/observe/logger.ts';
import { type ConfigOptions, openConfig, reading, withDatabase } from '../open/open-config.ts';
import { LEDGER_EVERY_MS, watchLedger } from '../open/watch-ledger.ts';
import { listenForStop, untilAborted } from '../terminal/listen-for-stop.ts';
import type { Output } from '../terminal/output.ts';

export type ReceiveOptions = ConfigOptions & { readonly port?: number };

/**
 * Receives events until SIGINT or SIGTERM, then finishes the requests in flight. The first line of output is
 * the address.
 *
 * @throws KnownError `webhook_secret_missing`, `port_unusable`, or an error about the database (exit 2).
 */
export async function receiveWebhooks(output: Output, options: ReceiveOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const settings = { ...config.webhooks, port: options.port ?? config.webhooks.port };
  if (settings.secrets.length === 0)
    throw refusal({
      code: 'webhook_secret_missing',
      message: 'There is no signing secret, so no event could be verified.',
      where: `webhooks.secret in ${shortPath(config.path)}`,
      help: 'Set INFLUENCER_WEBHOOK_SECRET to the signing secret on the API integration page of the service (or the one that the sandbox printed).',
      safe: 'Nothing was received.',
    });
  const logger = createLogger({ level: process.env.LOG_LEVEL, isInteractive: process.stderr.isTTY === true });
  return withDatabase(
    config,
    async (db) => {
      await migrate(db);
      const { onLost } = reading(output, 'but events are stored');
      const look = watchLedger({ db, config }, (problem) =>
        problem === null ? output.warn('The ledger is complete again.') : onLost(problem),
      );
      await look();
      const stopping = listenForStop(output);
      const receiver = await startReceiver({
        settings,
        store: createEventStore(db),
        onDelivery: (fate, status, kind) => logger.info({ event: fate, status, kind }, 'delivery'),
        onError: (error) => logger.error(error instanceof Error ? error : {}, 'an event could not be stored'),
      });
      // An error is that of a database that is away; events that cannot be stored say so.
      const watching = setInterval(() => void look().catch(() => {}), LEDGER_EVERY_MS);
      output.emit({ event: 'listening', url: receiver.url });
      output.print(`Receiving events at ${receiver.url}. Stop with Ctrl-C.`);
      await untilAborted(stopping.signal);
      clearInterval(watching);
      await receiver.close();
      stopping.ignore();
      return EXIT.ok;
    },
    { migrated: false },
  );
}
