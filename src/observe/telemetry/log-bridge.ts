import { type Logger, SeverityNumber } from '@opentelemetry/api';

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/**
 * Converts lines of `createLogger` to log records. The logger has already left out everything except ids,
 * counts and our own words. A record belongs to the span in which its line was written.
 */
export function createLogBridge(logger: Logger): (line: string) => void {
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
