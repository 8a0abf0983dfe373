import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { createPoster } from '../../../src/sandbox/events/post-event.ts';
import { specifiedService } from '../../../src/service/description/schema.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { orderEvent, SECRET } from './deliver.ts';
import { startReceiverProcess } from './receiver-process.ts';

const EVENTS_A_SECOND = 500;
/** The campaign `webhooks` sets 30. */
const SECONDS = Number(process.env.WEBHOOK_LOAD_SECONDS ?? 2);
const EVENTS = EVENTS_A_SECOND * SECONDS;

/** The receiver is killed after these shares of all events, while it handles others. */
const KILLED_AFTER = [0.25, 0.6];

const RETRY_MS = 100;
const GIVE_UP_MS = 60_000;

it('a receiver that is killed twice under 500 events a second acknowledges each event in the end and stores it exactly once', {
  timeout: SECONDS * 1_000 + 2 * GIVE_UP_MS,
}, async () => {
  const { db, databaseUrl, folder } = await setup();
  const env = { DATABASE_URL: databaseUrl, INFLUENCER_WEBHOOK_SECRET: SECRET };
  let receiver = await startReceiverProcess(folder, env);
  const { url } = receiver;
  const service = startService(url);

  const sending = service.sendAll();
  for (const part of KILLED_AFTER) {
    await waitFor(() => service.acknowledged.size >= part * EVENTS && service.unanswered() > 0, {
      timeoutMs: SECONDS * 1_000 + GIVE_UP_MS,
    });
    receiver.process.kill('SIGKILL');
    expect(await receiver.process.ended).toMatchObject({ signal: 'SIGKILL' });
    receiver = await startReceiverProcess(folder, env, Number(new URL(url).port));
  }
  await sending;

  const all = Array.from({ length: EVENTS }, (_, number) => `${number}`).sort();
  expect([...service.acknowledged].sort()).toEqual(all);
  expect(service.refused).toEqual([]);
  // Otherwise the receiver was idle when it was killed, and the test proves nothing.
  expect(service.repeated()).toBeGreaterThan(0);
  const { rows: events } = await sql<{ order_id: string }>`
      select body -> 'order_information' ->> 'order_id' as order_id from ops.webhook_events`.execute(db);
  expect(events.map((row) => row.order_id).sort()).toEqual(all);
  const { rows: evidence } = await sql<{ order_id: string }>`select order_id from ledger.evidence`.execute(
    db,
  );
  expect(evidence.map((row) => row.order_id).sort()).toEqual(all);
});

type Service = {
  /**
   * Sends every event at its time, whatever happened to the earlier ones, and repeats it until it is
   * acknowledged.
   */
  sendAll(): Promise<unknown>;
  readonly acknowledged: ReadonlySet<string>;
  /** The 4xx statuses received: a signed event must never be refused. */
  readonly refused: readonly number[];
  /** Returns the number of events in flight. */
  unanswered(): number;
  /** Returns how often an event was sent again. */
  repeated(): number;
};

/** Signs and posts events as the sandbox does. */
function startService(url: string): Service {
  const poster = createPoster({ secret: SECRET, description: specifiedService.events, allowsPrivate: true });
  onTestFinished(() => poster.close());
  const acknowledged = new Set<string>();
  const refused: number[] = [];
  let unanswered = 0;
  let attempts = 0;

  async function send(orderId: string): Promise<void> {
    const body = orderEvent(orderId);
    const until = performance.now() + GIVE_UP_MS;
    while (performance.now() < until) {
      attempts += 1;
      unanswered += 1;
      const { status } = await poster.post({ url, body });
      unanswered -= 1;
      if (status !== null && status >= 200 && status <= 299) {
        acknowledged.add(orderId);
        return;
      }
      if (status !== null && status < 500) refused.push(status);
      await sleep(RETRY_MS);
    }
  }

  return {
    async sendAll() {
      const startedAt = performance.now();
      const sending: Promise<void>[] = [];
      while (sending.length < EVENTS) {
        const due = ((performance.now() - startedAt) / 1_000) * EVENTS_A_SECOND;
        while (sending.length < Math.min(EVENTS, due)) sending.push(send(`${sending.length}`));
        await sleep(5);
      }
      return Promise.all(sending);
    },
    acknowledged,
    refused,
    unanswered: () => unanswered,
    repeated: () => attempts - EVENTS,
  };
}
