import { type Logger, SeverityNumber } from '@opentelemetry/api';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Starts to send log records in batches. */
export function startLogs(resource: Resource, timeoutMillis: number) {
  const exporter = new OTLPLogExporter({ timeoutMillis });
  const logs = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter })] });
  return { log: createLogBridge(logs.getLogger('influencer-sync')), shutdown: () => logs.shutdown() };
}

/**
 * Converts lines of `createLogger` to log records. The logger has already left out everything except ids,
 * counts and our own words. A record belongs to the span in which its line was written.
 */
function createLogBridge(logger: Logger): (line: string) => void {
  return (line) => {
    const { level, time, msg, ...attributes } = JSON.parse(line) as Record<string, never> & {
      readonly level: string;
      readonly time: string;
      readonly msg: string;
    };
    logger.emit({
      timestamp: new Date(time),
      severityNumber: SEVERITIES[level] ?? SeverityNumber.INFO,
      severityText: level.toUpperCase(),
      body: msg,
      attributes,
    });
  };
}
