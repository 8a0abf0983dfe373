import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly SentAttribute[];
  readonly status: { readonly code?: number };
};

type SentAttribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };

export type Collector = {
  /** The URL for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** Every body received, with its path. */
  readonly received: readonly { readonly path: string; readonly text: string }[];
  spans(): readonly SentSpan[];
  /** Returns the points of a metric, newest last. */
  points(
    metric: string,
  ): readonly { readonly attributes: readonly SentAttribute[]; readonly asDouble?: number }[];
};

/**
 * Starts a receiver of OTLP over HTTP that accepts JSON. With `hangs`, it accepts connections and requests
 * but never answers.
 */
export async function startCollector({ hangs = false } = {}): Promise<Collector> {
  const received: { path: string; text: string }[] = [];
  const server = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    received.push({ path: request.url ?? '', text });
    if (!hangs) reply.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const bodiesOf = (path: string) =>
    received.filter((one) => one.path === path).map(({ text }) => JSON.parse(text));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    spans: () =>
      bodiesOf('/v1/traces').flatMap((body) =>
        body.resourceSpans.flatMap((one: { scopeSpans: { spans: SentSpan[] }[] }) =>
          one.scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    points: (metric) =>
      bodiesOf('/v1/metrics')
        .flatMap((body) => body.resourceMetrics)
        .flatMap((one) => one.scopeMetrics)
        .flatMap((one) => one.metrics)
        .filter(({ name }) => name === metric)
        .flatMap((one) => (one.gauge ?? one.sum ?? one.histogram).dataPoints),
  };
}

/**
 * Returns an attribute of a span or a point, such as `influencer_sync.run.id`; undefined if it is missing.
 */
export function attributeOf(
  { attributes }: { readonly attributes: readonly SentAttribute[] },
  key: string,
): unknown {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}
