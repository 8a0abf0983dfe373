import type { Account } from '../../src/sandbox/account/account.ts';
import type { AccountData } from '../../src/sandbox/account/account-data.ts';
import { DEMO_ACCOUNT, readAccounts } from '../../src/sandbox/account/read-accounts.ts';
import { createClock } from '../../src/sandbox/clock.ts';
import { createEventStream, createEvents } from '../../src/sandbox/events/events.ts';
import { createFollowUps } from '../../src/sandbox/events/follow-ups.ts';
import type { World } from '../../src/sandbox/operations/operation.ts';
import type { RequestLog } from '../../src/sandbox/request-log.ts';
import { createPopulation } from '../../src/sandbox/search/population.ts';
import { specifiedService } from '../../src/service/description/schema.ts';

export const population = createPopulation('1');

/** Returns the built-in account. */
export function demoData(): AccountData {
  const [data] = readAccounts(DEMO_ACCOUNT);
  if (data === undefined) throw new Error('there is no account');
  return data;
}

/**
 * Opens the world of one account without a server. It calls no webhook: another test checks events with a
 * real receiver.
 */
export function openQuietWorld(account: Account, requestLog: RequestLog): World {
  const clock = createClock();
  const events = createEvents(account, {
    poster: { post: async () => ({ status: 200, error: null }), close() {} },
    description: specifiedService.events,
    retryMs: 1,
    appUrl: () => 'http://sandbox.test',
    clock,
    stream: createEventStream(),
  });
  return {
    account,
    population,
    requestLog,
    events,
    followUps: createFollowUps({ account, population, events, clock }),
    duplicates: 'accept',
    clock,
    identifyDelayMs: 0,
    allowsPrivateWebhooks: true,
    appUrl: () => 'http://sandbox.test',
  };
}
