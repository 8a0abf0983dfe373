import type { Logger } from 'pino';
import { findJob } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Database } from '../../db/connect.ts';
import type { Metrics } from '../../monitoring/observe/metrics.ts';
import type { ClaimedSlot, SlotEnd } from '../../ops/schedule/slots.ts';
import { runSlot } from '../../runs/run-slot.ts';
import { type Client, observeClient } from '../../service/client.ts';
import { openSourceClients } from '../../store/source-clients.ts';
import { openClient } from '../open/open-service.ts';
import type { OpenWork } from '../open/open-workers.ts';
import { pingStart } from './notify-after.ts';

export type SlotRunnerOptions = {
  readonly config: PipelineConfig;
  readonly db: Database;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Aborts when the process must end. */
  readonly draining: AbortSignal;
  readonly openSpread: OpenWork['openSpread'];
};

/** What all runs of a `serve` process share. */
export type SlotRunner = { work(claimed: ClaimedSlot): Promise<SlotEnd>; close(): void };

/** Opens what the runs of a `serve` process need. */
export function openSlotRunner(options: SlotRunnerOptions): SlotRunner {
  const { config, db, log, metrics, draining, openSpread } = options;
  const sourceClients = openSourceClients();
  return {
    async work(claimed) {
      const ping = await pingStart(config, claimed.job);
      return runSlot(
        {
          ...findJob(config, claimed.job),
          config,
          db,
          sourceClients,
          draining,
          openSpread,
          openClient: (onAnswer) => openRunClient(options, onAnswer),
          onTarget: (target) => log.info({ job: claimed.job, ...target }, 'run sends to'),
          onEnded(run) {
            metrics.runEnded(run);
            // Log only ids and counts, no amounts.
            log.info({ ...run, amounts: undefined }, 'run ended');
            // Not awaited: the slot is settled in the meantime.
            void ping.ended(run.exit_code);
          },
          onBug: (error) =>
            log.error(error instanceof Error ? error : {}, `a run of ${claimed.job} failed because of a bug`),
        },
        claimed,
      );
    },
    close: () => sourceClients.close(),
  };
}

/** Creates a client for one run. Every answer calls `onAnswer`, as a sign of life. */
function openRunClient({ config, metrics }: SlotRunnerOptions, onAnswer: () => void): Client {
  const client = openClient(config.api, { connections: config.api.concurrency });
  return observeClient(client, {
    begun: metrics.requestBegun,
    ended(operation, exchange, seconds) {
      metrics.requestEnded(operation, exchange, seconds);
      if (exchange.kind === 'answer') onAnswer();
    },
  });
}
