import { EXIT } from '../../model/exit-code.ts';
import type { Output } from './output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export type Stopping = {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Done at the second signal, before the process exits: it takes seconds at most. */
  beforeExit(work: () => Promise<void>): void;
  /** Takes the listeners away again. */
  ignore(): void;
};

/** The first Ctrl-C (or SIGTERM) drains: nothing new begins, what is on its way is finished. A second one stops at once, and a third one without anything more. All lose nothing. */
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

/** Waits until a signal aborts; not at all where it has. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
