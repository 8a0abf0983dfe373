import { type HrTime, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Metrics, MetricValues } from '../metrics.ts';

const METRICS_EVERY_MS = 60_000;
/** As long as a process waits for its telemetry when it ends. */
const METRICS_WITHIN_MS = 2_000;

/** Starts to send the metrics once a minute, and when it ends. */
export function startMetrics(resource: Resource, timeoutMillis: number, metrics: Pick<Metrics, 'values'>) {
  const meters = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ timeoutMillis }),
        exportIntervalMillis: METRICS_EVERY_MS,
        exportTimeoutMillis: METRICS_WITHIN_MS,
        metricProducers: [createMetricBridge({ metrics, resource, since: new Date() })],
      }),
    ],
  });
  return { shutdown: () => meters.shutdown() };
}

/**
 * Converts the metrics of /metrics to OTLP with the same names, labels and values, so that dashboards work with both.
 */
export function createMetricBridge({
  metrics,
  resource,
  since,
}: {
  readonly metrics: Pick<Metrics, 'values'>;
  readonly resource: Resource;
  /** Start time of the counters. */
  readonly since: Date;
}): MetricProducer {
  const startTime = toHrTime(since);
  return {
    async collect() {
      const endTime = toHrTime(new Date());
      const values = await metrics.values();
      const data = values.flatMap((metric) => toMetricData(metric, { startTime, endTime }));
      const scopeMetrics = [{ scope: { name: 'influencer-sync' }, metrics: data }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}

type Times = { readonly startTime: HrTime; readonly endTime: HrTime };

function toMetricData(metric: MetricValues, times: Times): readonly MetricData[] {
  const base = {
    descriptor: {
      name: metric.name,
      description: metric.help,
      unit: /_seconds(_total)?$/.test(metric.name) ? 's' : metric.name.endsWith('_bytes') ? 'By' : '1',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // A gauge without any observation yet is NaN, for which JSON has no number: a collector would refuse all of
  // the metrics.
  const known = metric.values.filter(({ value }) => Number.isFinite(value));
  const points = known.map(({ labels, value }) => ({ ...times, attributes: labels, value }));
  // The type declares numbers, but the values are names.
  switch (String(metric.type)) {
    case 'counter':
      return [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points }];
    case 'gauge':
      return [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints: points }];
    case 'histogram':
      return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: toHistograms(metric, times) }];
    default:
      return [];
  }
}

/** Buckets of Prometheus are cumulative, those of OTLP are not. */
function toHistograms({ values }: MetricValues, times: Times) {
  const groups = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...groups].map(([labels, group]) => {
    const of = (suffix: string) => group.filter(({ metricName }) => metricName?.endsWith(suffix));
    const buckets = of('_bucket');
    const boundaries = buckets.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite);
    const counts = buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0));
    const value: Histogram = {
      buckets: { boundaries, counts },
      sum: of('_sum')[0]?.value ?? 0,
      count: of('_count')[0]?.value ?? 0,
    };
    return { ...times, attributes: JSON.parse(labels) as Record<string, string>, value };
  });
}

function toHrTime(instant: Date): HrTime {
  const ms = instant.getTime();
  return [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000];
}
