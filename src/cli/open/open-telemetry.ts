import { randomUUID } from 'node:crypto';
import type { Metrics } from '../../observe/metrics.ts';
import type { Telemetry } from '../../observe/telemetry/start-telemetry.ts';
import { readVersion } from '../../package/read-version.ts';
import type { Output } from '../terminal/output.ts';

/** Each of these variables names a collector. */
const ENDPOINTS = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
];

/** The OpenTelemetry exporter of a command. */
export type OpenTelemetry = Telemetry & {
  /** Sends these metrics from now on. */
  measure(metrics: Metrics): void;
};

/**
 * Sends traces, metrics and logs to a collector if the environment names one. Otherwise returns null and
 * loads nothing.
 */
export async function openTelemetry(output: Pick<Output, 'warn'>): Promise<OpenTelemetry | null> {
  const isWanted = ENDPOINTS.some((name) => (process.env[name] ?? '') !== '');
  if (!isWanted || process.env.OTEL_SDK_DISABLED === 'true') return null;
  const { startTelemetry } = await import('../../observe/telemetry/start-telemetry.ts');
  let metrics: Metrics | null = null;
  const telemetry = startTelemetry({
    version: readVersion(),
    instanceId: randomUUID(),
    metrics: { values: async () => (metrics === null ? [] : metrics.values()) },
    onTrouble: () =>
      output.warn(
        'The collector (OTEL_EXPORTER_OTLP_ENDPOINT) does not accept telemetry. Runs continue without it.',
      ),
  });
  return {
    ...telemetry,
    measure(measured) {
      metrics = measured;
    },
  };
}
