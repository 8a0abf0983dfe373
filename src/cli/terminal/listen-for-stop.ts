import { EXIT } from '../../core/exit-code.ts';
import type { Output } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export type Stopping = {
  readonly signal: AbortSignal;
  /** Adds work for the second signal, before the process exits. It must take only a few seconds. */
  beforeExit(work: () => Promise<void>): void;
  ignore(): void;
};

/**
 * Handles SIGINT and SIGTERM. The first signal drains: nothing new starts, and requests in flight are finished. The
 * second stops the process after its `beforeExit` work, the third at once. The ledger stays complete in every case.
 */
export function listenForStop(
  output: Pick<Output, 'warn'>,
  told = 'Finishing the requests in flight. Press Ctrl-C again to stop at once; requests in flight are then in doubt.',
): Stopping {
  const draining = new AbortController();
  const lastWork: (() => Promise<void>)[] = [];
  let isExiting = false;

  function exit(): void {
    if (isExiting) process.exit(EXIT.interrupted);
    isExiting = true;
    void Promise.allSettled(lastWork.map((work) => work())).then(() => process.exit(EXIT.interrupted));
  }
  function onSignal(): void {
    if (draining.signal.aborted) {
      exit();
      return;
    }
    output.warn(`\n${told}`);
    draining.abort();
  }
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: draining.signal,
    beforeExit: (work) => void lastWork.push(work),
    ignore() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/** Waits until a signal aborts; returns at once if it has. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
