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
 * Makes log records of lines that `createLogger` wrote, which has left out whatever is no id, count or word of ours. A record belongs to the
 * span in which its line was written.
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
