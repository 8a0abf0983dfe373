import { resourceFromAttributes } from '@opentelemetry/resources';
import { expect, it } from 'vitest';
import type { MetricValues } from '../../../src/monitoring/observe/metrics.ts';
import { createMetricBridge } from '../../../src/monitoring/observe/telemetry/metric-bridge.ts';

it('omits values that are no numbers, for which a collector would refuse all metrics', async () => {
  const gauge = (name: string, ...values: readonly number[]) => ({
    name,
    help: 'How much.',
    type: 'gauge',
    aggregator: 'sum',
    values: values.map((value) => ({ value, labels: {} })),
  });
  const metrics = [gauge('lag_seconds', Number.NaN, 1), gauge('ratio', Number.POSITIVE_INFINITY)];
  const bridge = createMetricBridge({
    metrics: { values: async () => metrics as unknown as readonly MetricValues[] },
    resource: resourceFromAttributes({}),
    since: new Date(),
  });
  const { resourceMetrics } = await bridge.collect();
  const [scope] = resourceMetrics.scopeMetrics;
  expect(scope?.metrics.map(({ dataPoints }) => dataPoints.map(({ value }) => value))).toEqual([[1], []]);
});
