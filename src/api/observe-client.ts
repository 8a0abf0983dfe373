import type { Exchange } from '../model/exchange.ts';
import type { Client } from './client.ts';
import type { OperationName } from './contract.ts';

export type ExchangeObserver = {
  begun(operation: OperationName): void;
  /** @param seconds from when the client was given the request to the whole answer, or to giving up. */
  ended(operation: OperationName, exchange: Exchange, seconds: number): void;
};

/** The same client, which tells of every request. */
export function observeClient(client: Client, observer: ExchangeObserver): Client {
  return {
    ...client,
    async exchange(operation, input) {
      const begunAt = performance.now();
      observer.begun(operation);
      const exchange = await client.exchange(operation, input);
      observer.ended(operation, exchange, (performance.now() - begunAt) / 1000);
      return exchange;
    },
  };
}
