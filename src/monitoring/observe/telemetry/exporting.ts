import type { Resource } from '@opentelemetry/resources';

/** What each signal needs to start. */
export type Exporting = {
  readonly resource: Resource;
  /** A collector is usually close. A slower one must not delay a process that ends. */
  readonly timeoutMillis: number;
};
