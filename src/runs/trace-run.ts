import type { JobSettings } from '../config/job-fields.ts';
import type { Exchange } from '../core/http/exchange.ts';
import type { Progress } from '../core/progress.ts';
import type { EndedStatement } from '../db/phase.ts';
import { inRunSpan, type RunSpan, recordLeaf } from '../ops/spans.ts';
import { type Client, observeClient } from '../service/client.ts';
import { contract } from '../service/contract.ts';

export type TracedRun = {
  /** Null if nothing is traced. */
  readonly traceId: string | null;
  /** Records the steps of the run in its trace. */
  readonly progress: Progress;
  /** Records its requests in its trace. */
  readonly client: Client | null;
  /** Must be called with each of its statements. */
  readonly onStatement: (statement: EndedStatement) => void;
  readonly describe: RunSpan['describe'];
  readonly fail: RunSpan['fail'];
};

export type TraceRunOptions = {
  readonly job: Pick<JobSettings, 'name' | 'kind'>;
  readonly service: string;
  readonly progress: Progress;
  /** Null for a plan. */
  readonly client: Client | null;
};

/** Traces a run with its steps, requests and statements. Costs almost nothing if tracing is off. */
export function traceRun<Result>(
  { job, service, progress, client }: TraceRunOptions,
  work: (traced: TracedRun) => Promise<Result>,
): Promise<Result> {
  const attributes = {
    'influencer_sync.job.name': job.name,
    'influencer_sync.job.kind': job.kind,
    'influencer_sync.plan': client === null,
  };
  return inRunSpan({ name: `${client === null ? 'plan' : 'run'} ${job.kind}`, attributes }, (span) =>
    work({
      traceId: span.traceId,
      describe: span.describe,
      fail: span.fail,
      progress: {
        begin(step) {
          span.enterStep(step.name);
          progress.begin(step);
        },
        advance: (count, rows) => progress.advance(count, rows),
        note: (message) => progress.note(message),
        end() {
          span.enterStep(null);
          progress.end();
        },
      },
      client: client === null || span.traceId === null ? client : tellRequests(client, service),
      onStatement: recordStatement,
    }),
  );
}

/**
 * Follows the semantic conventions for HTTP clients, except for the full address, because a query may contain
 * personal data.
 */
function tellRequests(client: Client, service: string): Client {
  const { hostname, port, protocol } = new URL(service);
  const server = {
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
  return observeClient(client, {
    begun: () => {},
    ended(operation, exchange, seconds) {
      recordLeaf('request', {
        seconds,
        failure: failureOf(exchange),
        describe: () => {
          const { method, path } = contract[operation];
          const status = exchange.kind === 'answer' ? { 'http.response.status_code': exchange.status } : {};
          return {
            name: `${method} ${path}`,
            attributes: { 'http.request.method': method, 'url.template': path, ...server, ...status },
          };
        },
      });
    },
  });
}

function failureOf(exchange: Exchange): string | null {
  if (exchange.kind === 'failure') return exchange.written ? 'lost' : 'not_written';
  return exchange.status >= 400 ? String(exchange.status) : null;
}

/**
 * A span contains only the first word of a statement and the first of our tables that it names. The text is
 * left out; parameters are never part of the text.
 */
const OPERATION = /^\s*(\w+)/;
const TABLE = /\b(?:intake|ledger|mirror|ops|reporting)\.[a-z_]+/;

function recordStatement({ text, seconds, code }: EndedStatement): void {
  recordLeaf('statement', {
    seconds,
    failure: code,
    describe: () => {
      const operation = OPERATION.exec(text)?.[1]?.toLowerCase() ?? 'statement';
      const table = TABLE.exec(text.replaceAll('"', ''))?.[0];
      const summary = table === undefined ? operation : `${operation} ${table}`;
      return {
        name: summary,
        attributes: {
          'db.system.name': 'postgresql',
          'db.operation.name': operation,
          'db.query.summary': summary,
          ...(table === undefined ? {} : { 'db.collection.name': table }),
          ...(code === null ? {} : { 'db.response.status_code': code }),
        },
      };
    },
  });
}
