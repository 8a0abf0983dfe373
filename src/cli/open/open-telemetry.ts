import { randomUUID } from 'node:crypto';
import { readVersion } from '../../core/package.ts';
import type { Metrics } from '../../monitoring/observe/metrics.ts';
import type { Signal, Telemetry } from '../../monitoring/observe/telemetry/start-telemetry.ts';
import type { Output } from '../terminal/output.ts';

const SIGNALS: readonly Signal[] = ['traces', 'metrics', 'logs'];

/** The OpenTelemetry exporter of a command. */
export type OpenTelemetry = Telemetry & { measure(metrics: Metrics): void };

/**
 * Sends traces, metrics and logs to the collectors that the environment names, one for all of them or one
 * for each. Loads nothing for a signal without a collector, and returns null if there is none.
 */
export async function openTelemetry(output: Pick<Output, 'warn'>): Promise<OpenTelemetry | null> {
  const signals = SIGNALS.filter(isWanted);
  if (signals.length === 0 || process.env.OTEL_SDK_DISABLED === 'true') return null;
  const { startTelemetry } = await import('../../monitoring/observe/telemetry/start-telemetry.ts');
  let metrics: Metrics | null = null;
  const telemetry = await startTelemetry({
    version: readVersion(),
    signals,
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

/** Whether the environment names a collector for a signal, in the words of the OpenTelemetry specification. */
function isWanted(signal: Signal): boolean {
  const name = signal.toUpperCase();
  const endpoint =
    process.env[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`] || process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint !== undefined && endpoint !== '' && process.env[`OTEL_${name}_EXPORTER`] !== 'none';
}
