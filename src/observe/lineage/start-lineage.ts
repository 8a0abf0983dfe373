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

/** Tells a receiver of OpenLineage of runs. */
export type Lineage = {
  /** A run begins; call what this returns when it has ended. Neither throws, and neither waits for the receiver. */
  runBegun(job: JobSettings, runId: string): (end: LineageEnd) => void;
  /** Sends what is left, for two seconds at most. Never throws. */
  end(): Promise<void>;
};

export type LineageOptions = Omit<EventsOf, 'views'> & {
  /** Where events are posted to. */
  readonly url: string;
  /** Sent as a bearer token; empty: none is. */
  readonly apiKey: string;
  readonly describeJob: (job: JobSettings) => JobLineage;
  /** Told once when the receiver accepts nothing; the reason names no address. */
  readonly onTrouble: (reason: string) => void;
};

/** A receiver is near. One that takes longer must not keep a process that ends. */
const SEND_WITHIN_MS = 1_500;
const END_WITHIN_MS = 2_000;

/** Posts run events, the start of a run before its end. What the receiver does not take is dropped. */
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
        // What is posted, and the key, are meant for the configured address only.
        redirect: 'manual',
        signal: AbortSignal.any([giveUp.signal, AbortSignal.timeout(SEND_WITHIN_MS)]),
      });
      await answer.body?.cancel();
      if (!answer.ok) tell(`HTTP ${answer.status}`);
    } catch {
      // The text of such an error may repeat the address.
      tell('no answer');
    }
  }

  function keep(sending: Promise<void>): Promise<void> {
    onTheWay.add(sending);
    return sending.finally(() => onTheWay.delete(sending));
  }

  return {
    runBegun(job, runId) {
      const run = { ...describeJob(job), uuid: randomUUID(), runId };
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

/** `npm run schema` writes it from what Postgres has understood of the views. */
function readViews(): Readonly<Record<string, ViewLineage>> {
  return JSON.parse(readFileSync(packageFile('sql/lineage.json'), 'utf8'));
}
