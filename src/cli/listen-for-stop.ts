import { EXIT } from '../model/exit-code.ts';
import type { Output } from './render/output.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export type Stopping = {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** Takes the listeners away again. */
  ignore(): void;
};

/** The first Ctrl-C (or SIGTERM) drains: nothing new begins, what is on its way is finished. A second one stops at once. Both lose nothing. */
export function listenForStop(output: Pick<Output, 'warn'>): Stopping {
  const draining = new AbortController();
  function onSignal(): void {
    if (draining.signal.aborted) process.exit(EXIT.interrupted);
    output.warn(
      '\nFinishing what is on its way. Once more to stop at once: what is on its way then is in doubt.',
    );
    draining.abort();
  }
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    signal: draining.signal,
    ignore() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
