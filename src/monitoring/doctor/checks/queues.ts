import type { SourceSettings } from '../../../config/source-fields.ts';
import type { Finding } from '../../../core/finding.ts';
import { KnownError } from '../../../core/known-error.ts';
import type { Check } from '../../../runs/doctor-check.ts';
import { openQueue } from '../../../store/queue/open-queue.ts';
import { readQueueState } from '../../../store/queue/take-events.ts';

/** Asks the queue of each source for its state, without receiving a message. */
export const queues: Check = {
  name: 'queue',
  async look({ config }) {
    const findings = await Promise.all(Object.values(config.sources).map(lookAtQueue));
    return findings.flat();
  },
};

async function lookAtQueue({ name, events, region, profile }: SourceSettings): Promise<readonly Finding[]> {
  if (events === null) return [];
  const about = `queue of source ${name}`;
  try {
    const queue = await openQueue({ url: events.queue, region, profile });
    const { waiting, hasDeadLetters } = await readQueueState(queue).finally(() => queue.close());
    const count = `${waiting.toLocaleString('en')} ${waiting === 1 ? 'message waits' : 'messages wait'}`;
    if (!hasDeadLetters) return [withoutDeadLetters(about, count)];
    const what = `${count}; all names are listed every ${events.listEveryHours} hours.`;
    return [{ status: 'ok', about, what }];
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { message, help } = error.details;
    const why = 'Runs list all names of the source instead, which takes longer. No file is missed.';
    return [{ status: 'warning', about, what: message, why, fix: help }];
  }
}

function withoutDeadLetters(about: string, count: string): Finding {
  return {
    status: 'warning',
    about,
    what: `${count}; the queue has no dead-letter queue.`,
    why: 'A message that is no event of S3 comes back until it expires.',
    fix: 'Give the queue a redrive policy, for example with a maxReceiveCount of 5.',
  };
}
