import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../api/client.ts';

/**
 * The same client, whose requests wait for their turn: several runs of one process share the limit of the account by sharing `takeTurn`.
 *
 * @param takeTurn takes the next turn and says how long until it comes, in milliseconds (see `createPace`).
 */
export function paceClient(client: Client, takeTurn: () => number): Client {
  return {
    ...client,
    async exchange(operation, input) {
      const waitMs = takeTurn();
      if (waitMs > 0) await sleep(waitMs);
      return client.exchange(operation, input);
    },
  };
}
