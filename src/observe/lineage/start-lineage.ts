import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JobSettings } from '../../model/config.ts';
import { packageFile } from '../../package/package-file.ts';
import {
  createLineageEvents,
  type EventsOf,
  type JobLineage,
  type LineageEnd,
  type LineageEvent,
} from './lineage-events.ts';
import type { ViewLineage } from './view-lineage.ts';

/** Sends the events of runs to an OpenLineage receiver. */
export type Lineage = {
  /**
   * Call it when a run starts, and the returned function when it has ended. Neither throws or waits for the
   * receiver.
   *
   * @param as the name and kind of the run's record, if they are not those of the job: of a backfill.
   */
  runBegun(job: JobSettings, runId: string, as?: Pick<JobLineage, 'job' | 'kind'>): (end: LineageEnd) => void;
  /** Sends the remaining events, for two seconds at most. Never throws. */
  end(): Promise<void>;
};

export type LineageOptions = Omit<EventsOf, 'views'> & {
  /** Address that events are posted to. */
  readonly url: string;
  /** Sent as a bearer token. Empty sends none. */
  readonly apiKey: string;
  readonly describeJob: (job: JobSettings) => JobLineage;
  /** Called once if the receiver accepts nothing. The reason contains no address. */
  readonly onTrouble: (reason: string) => void;
};

/** A receiver is usually close. A slower one must not delay a process that ends. */
const SEND_WITHIN_MS = 1_500;
const END_WITHIN_MS = 2_000;

/**
 * Posts run events, the start of a run before its end. Events that the receiver does not accept are dropped.
 */
export function startLineage(options: LineageOptions): Lineage {
  const { url, apiKey, describeJob, onTrouble } = options;
  const createEvent = createLineageEvents({ ...options, views: readViews() });
  const giveUp = new AbortController();
  const onTheWay = new Set<Promise<void>>();
  let isTold = false;
  const tell = (reason: string): void => {
    if (!isTold) onTrouble(reason);
    isTold = true;
  };

  async function send(event: LineageEvent): Promise<void> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        body: JSON.stringify(event),
        headers: {
          'content-type': 'application/json',
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        // The event and the key are meant only for the configured address.
        redirect: 'manual',
        signal: AbortSignal.any([giveUp.signal, AbortSignal.timeout(SEND_WITHIN_MS)]),
      });
      await answer.body?.cancel();
      if (!answer.ok) tell(`HTTP ${answer.status}`);
    } catch {
      // The text of such an error may contain the address.
      tell('no answer');
    }
  }

  function keep(sending: Promise<void>): Promise<void> {
    onTheWay.add(sending);
    return sending.finally(() => onTheWay.delete(sending));
  }

  return {
    runBegun(job, runId, as) {
      const run = { ...describeJob(job), ...as, uuid: randomUUID(), runId };
      const begun = keep(send(createEvent(run, null)));
      return (end) => {
        const event = createEvent(run, end);
        void keep(begun.then(() => send(event)));
      };
    },
    async end() {
      const timer = setTimeout(() => giveUp.abort(), END_WITHIN_MS);
      await Promise.all(onTheWay);
      clearTimeout(timer);
    },
  };
}

/** `npm run schema` writes this file from Postgres's own analysis of the views. */
function readViews(): Readonly<Record<string, ViewLineage>> {
  return JSON.parse(readFileSync(packageFile('sql/lineage.json'), 'utf8'));
}
