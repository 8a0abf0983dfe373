import { context, DiagLogLevel, diag } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Metrics } from '../metrics.ts';
import { useTracing } from '../spans.ts';
import { createTracing } from './create-tracing.ts';
import { createLogBridge } from './log-bridge.ts';
import { createMetricBridge } from './metric-bridge.ts';

export type Telemetry = {
  /** Also sends a line of the log: the JSON of ids and counts that `createLogger` has written. */
  log(line: string): void;
  /** Sends the remaining data, for two seconds at most. Never throws; later calls do nothing. */
  end(): Promise<void>;
};

export type TelemetryOptions = {
  readonly version: string;
  /** Identifies this process among others. */
  readonly instanceId: string;
  readonly metrics: Pick<Metrics, 'values'>;
  /** Called once if the collector accepts nothing. */
  readonly onTrouble: () => void;
};

/** A collector is usually close. A slower one must not delay a process that ends. */
const EXPORT_TIMEOUT_MS = 1_500;
const END_WITHIN_MS = 2_000;
const METRICS_EVERY_MS = 60_000;

/**
 * Sends traces, metrics and logs by OTLP over HTTP to the address in the environment
 * (`OTEL_EXPORTER_OTLP_ENDPOINT` and related variables). Only this folder uses OpenTelemetry, and it is
 * loaded only if that variable is set. Data that a collector does not accept is dropped.
 */
export function startTelemetry({ version, instanceId, metrics, onTrouble }: TelemetryOptions): Telemetry {
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
  const exporting = { timeoutMillis: EXPORT_TIMEOUT_MS };
  const traces = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(exporting) })],
  });
  const logs = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter(exporting) })],
  });
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exporting),
        exportIntervalMillis: METRICS_EVERY_MS,
        exportTimeoutMillis: END_WITHIN_MS,
        metricProducers: [createMetricBridge({ metrics, resource, since: new Date() })],
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  useTracing(createTracing(traces.getTracer('influencer-sync')));
  let ending: Promise<void> | null = null;

  async function end(): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => resolve('late'), END_WITHIN_MS);
    const ended = await Promise.race([
      Promise.allSettled([traces.shutdown(), logs.shutdown(), meters.shutdown()]),
      isLate,
    ]);
    clearTimeout(timer);
    if (ended === 'late' || ended.some(({ status }) => status === 'rejected')) tell();
    useTracing(undefined);
    context.disable();
    diag.disable();
  }

  return {
    log: createLogBridge(logs.getLogger('influencer-sync')),
    end() {
      ending ??= end();
      return ending;
    },
  };
}
