import type { Dispatcher } from 'undici';
import { expect, test, vi } from 'vitest';
import type { Exchange } from '../../src/core/http/exchange.ts';
import { InFlightRequest } from '../../src/service/in-flight-request.ts';

function start(timeoutMs = 10_000) {
  const settled: Exchange[] = [];
  const request = new InFlightRequest(
    timeoutMs,
    (exchange) => settled.push(exchange),
    () => {},
  );
  const controller = { abort: vi.fn() } as unknown as Dispatcher.DispatchController;
  return { request, settled, controller };
}

test('a request is not written after it expired while it waited for a connection', () => {
  const { request, settled, controller } = start();
  request.expire();
  expect(() => request.onRequestStart(controller)).toThrow();
  expect(settled).toEqual([{ kind: 'failure', written: false, reason: 'no connection was free in time' }]);
});

test('a request is not written a second time, and still counts as written', () => {
  const { request, settled, controller } = start();
  request.onRequestStart(controller);
  expect(() => request.onRequestStart(controller)).toThrow();
  request.onResponseError(null, new Error('replayed'));
  expect(settled).toEqual([{ kind: 'failure', written: true, reason: 'the request failed' }]);
});

test('a request is not written if less than half of its time is left', () => {
  const { request, settled, controller } = start(-1);
  expect(() => request.onRequestStart(controller)).toThrow();
  expect(settled).toEqual([{ kind: 'failure', written: false, reason: 'no connection was free in time' }]);
});

test('a request settles only once, whichever events follow', () => {
  const { request, settled, controller } = start();
  request.onRequestStart(controller);
  request.expire();
  request.onResponseStart(controller, 200, {});
  request.onResponseEnd();
  request.onResponseError(controller, new Error('late'));
  expect(settled).toEqual([{ kind: 'failure', written: true, reason: 'no answer in time' }]);
  expect(controller.abort).toHaveBeenCalledTimes(1);
});
