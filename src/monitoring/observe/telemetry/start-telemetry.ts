import { context, DiagLogLevel, diag } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { useTracing } from '../../../ops/spans.ts';
import type { Metrics } from '../metrics.ts';

export type Signal = 'traces' | 'metrics' | 'logs';

export type Telemetry = {
  /** Also sends a line of the log: the JSON of ids and counts that `createLogger` has written. */
  log(line: string): void;
  /** Sends the remaining data, for two seconds at most. Never throws; later calls do nothing. */
  end(): Promise<void>;
};

export type TelemetryOptions = {
  readonly version: string;
  readonly instanceId: string;
  /** What to send. Nothing is loaded for the other signals. */
  readonly signals: readonly Signal[];
  readonly metrics: Pick<Metrics, 'values'>;
  /** Called once if the collector accepts nothing. */
  readonly onTrouble: () => void;
};

/** A collector is usually close. A slower one must not delay a process that ends. */
const EXPORT_TIMEOUT_MS = 1_500;
const END_WITHIN_MS = 2_000;

/**
 * Sends traces, metrics and logs by OTLP over HTTP to the address in the environment
 * (`OTEL_EXPORTER_OTLP_ENDPOINT` and related variables). Only this folder uses OpenTelemetry, and it is
 * loaded only if that variable is set. Data that a collector does not accept is dropped.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { version, instanceId, signals, metrics, onTrouble } = options;
  let isTold = false;
  const tell = (): void => {
    if (!isTold) onTrouble();
    isTold = true;
  };
  const silent = (): void => {};
  diag.setLogger(
    { error: tell, warn: silent, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const resource = resourceFromAttributes({
    'service.name': 'influencer-sync',
    'service.version': version,
    'service.instance.id': instanceId,
  }).merge(detectResources({ detectors: [envDetector] }));
  const [traces, meters, logs] = await Promise.all([
    signals.includes('traces')
      ? import('./create-tracing.ts').then(({ startTraces }) => startTraces(resource, EXPORT_TIMEOUT_MS))
      : null,
    signals.includes('metrics')
      ? import('./metric-bridge.ts').then(({ startMetrics }) =>
          startMetrics(resource, EXPORT_TIMEOUT_MS, metrics),
        )
      : null,
    signals.includes('logs')
      ? import('./log-bridge.ts').then(({ startLogs }) => startLogs(resource, EXPORT_TIMEOUT_MS))
      : null,
  ]);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  useTracing(traces?.tracing);
  let ending: Promise<void> | null = null;

  async function end(): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => resolve('late'), END_WITHIN_MS);
    const ended = await Promise.race([
      Promise.allSettled([traces?.shutdown(), logs?.shutdown(), meters?.shutdown()]),
      isLate,
    ]);
    clearTimeout(timer);
    if (ended === 'late' || ended.some(({ status }) => status === 'rejected')) tell();
    useTracing(undefined);
    context.disable();
    diag.disable();
  }

  return {
    log: logs?.log ?? (() => {}),
    end() {
      ending ??= end();
      return ending;
    },
  };
}
