import type { Dispatcher } from 'undici';
import { expect, test, vi } from 'vitest';
import { InFlightRequest } from '../../src/api/in-flight-request.ts';
import type { Exchange } from '../../src/model/exchange.ts';

function start(timeoutMs = 10_000) {
  const settled: Exchange[] = [];
  const flight = new InFlightRequest(
    timeoutMs,
    (exchange) => settled.push(exchange),
    () => {},
  );
  const controller = { abort: vi.fn() } as unknown as Dispatcher.DispatchController;
  return { flight, settled, controller };
}

test('is not written once it was given up while it waited', () => {
  const { flight, settled, controller } = start();
  flight.expire();
  expect(() => flight.onRequestStart(controller)).toThrow();
  expect(settled).toEqual([{ kind: 'failure', written: false, reason: 'no connection was free in time' }]);
});

test('is not written a second time, and stays written', () => {
  const { flight, settled, controller } = start();
  flight.onRequestStart(controller);
  expect(() => flight.onRequestStart(controller)).toThrow();
  flight.onResponseError(null, new Error('replayed'));
  expect(settled).toEqual([{ kind: 'failure', written: true, reason: 'the request failed' }]);
});

test('is not written with less than half of its time left', () => {
  const { flight, settled, controller } = start(-1);
  expect(() => flight.onRequestStart(controller)).toThrow();
  expect(settled).toEqual([{ kind: 'failure', written: false, reason: 'no connection was free in time' }]);
});

test('settles once, whatever comes after', () => {
  const { flight, settled, controller } = start();
  flight.onRequestStart(controller);
  flight.expire();
  flight.onResponseStart(controller, 200, {});
  flight.onResponseEnd();
  flight.onResponseError(controller, new Error('late'));
  expect(settled).toEqual([{ kind: 'failure', written: true, reason: 'no answer in time' }]);
  expect(controller.abort).toHaveBeenCalledTimes(1);
});
