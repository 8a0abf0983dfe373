import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { LOGS, type RequestLog } from '../request-log.ts';
import type { StateStore } from './state-store.ts';

/** The format that `GET /_sandbox/snapshot` returns and `POST /_sandbox/restore` accepts. */
export const snapshot = z.strictObject({
  format: z.literal(1),
  /** The seed. Ids are derived from it, so a snapshot fits only a sandbox with the same seed. */
  seed: z.string(),
  account_ids: z.array(z.string()),
  clock: z.strictObject({ aheadMs: z.number(), stoppedAtMs: z.number().nullable() }),
  records: z.array(z.tuple([z.string(), z.string(), z.unknown()])),
  logs: z.strictObject({
    referrals: z.array(z.string()),
    clicks: z.array(z.string()),
    submissions: z.array(z.string()),
    requests: z.array(z.string()),
  }),
});

export type Snapshot = z.output<typeof snapshot>;

/** The parts of a sandbox that a snapshot contains. Faults and the journal of requests are not included. */
export type Kept = {
  readonly seed: string;
  readonly accountIds: readonly string[];
  readonly stateStore: StateStore;
  readonly requestLog: RequestLog;
  readonly clock: Clock;
};

/** Takes a snapshot of the current state. */
export async function takeSnapshot({
  seed,
  accountIds,
  stateStore,
  requestLog,
  clock,
}: Kept): Promise<Snapshot> {
  // Records are shared with running code, so they are copied before the first await. Log lines that are added
  // later are left out.
  const records = JSON.parse(JSON.stringify(stateStore.records())) as Snapshot['records'];
  const counts = LOGS.map((name) => requestLog[name].count());
  const state = clock.state();
  const logs = await Promise.all(
    LOGS.map(async (name, index) => {
      const lines = (await text(requestLog[name].read())).split('\n').slice(0, counts[index]);
      return [name, lines.filter((line) => line !== '')] as const;
    }),
  );
  return {
    format: 1,
    seed,
    account_ids: [...accountIds],
    clock: state,
    records,
    logs: Object.fromEntries(logs) as Snapshot['logs'],
  };
}
