import { destination, type Logger, levels, pino } from 'pino';
import { errorCode } from '../../core/error-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { toPrintableJson } from '../../core/text/printable.ts';

export type LoggerOptions = {
  /**
   * LOG_LEVEL. Empty or unknown means `info`, or `silent` on a terminal, where the progress display replaces the log.
   */
  readonly level?: string | undefined;
  readonly isInteractive: boolean;
  /** Stream that lines are written to. Defaults to standard error, because standard output is for results. */
  readonly stream?: { write(line: string): void };
  /** Also called with each line. */
  readonly copyTo?: (line: string) => void;
};

const STDERR = 2;

/** Text under these keys is an id or one of our own words. All other text is left out. */
const TEXT_KEYS = new Set([
  'job',
  'kind',
  'source',
  'step',
  'state',
  'status',
  'code',
  'reason_code',
  'layout',
  'host',
  'event',
  'phase',
  'version',
  // The base address of the service, which has no credentials.
  'service',
  // The host, port and name of a database, or the folder of an embedded one.
  'ledger',
]);
const ID_KEY = /(^id|_id|Id|_hash|Hash)$/;
const SECRET_KEY = /key|secret|token|password|auth|mail/i;
const LEFT_OUT = '[left out]';
const MAX_TEXT = 200;

/**
 * Creates a logger that writes JSON lines with ids and counts. Everything else is left out, so that no row
 * value, address or secret reaches a log by mistake. Numbers, booleans and instants pass. Text passes only
 * under the key of an id or of one of our own words.
 */
export function createLogger({ level, isInteractive, stream, copyTo }: LoggerOptions): Logger {
  const isKnown = level !== undefined && (level === 'silent' || level in levels.values);
  const options: pino.LoggerOptions = {
    level: isKnown ? level : isInteractive ? 'silent' : 'info',
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }), log: keepIdsAndCounts },
    serializers: { err: (error: unknown) => error },
    hooks: {
      // A line is JSON. Control characters are escaped, so that a terminal shows them and does not interpret
      // them.
      streamWrite: toPrintableJson,
      // Accepts only fields and one of our messages. Nothing is interpolated into the message, and the
      // message of an error is not used.
      logMethod([first, second], method) {
        const fields: unknown = first;
        const message: unknown = typeof fields === 'string' ? fields : second;
        const kept =
          typeof fields === 'string' ? {} : fields instanceof Error ? { err: fields } : (fields ?? {});
        method.call(this, kept, typeof message === 'string' ? message : 'no message');
      },
    },
  };
  const lines = stream ?? destination({ fd: STDERR, sync: true });
  const logger = pino(options, copyTo === undefined ? lines : writeBoth(lines, copyTo));
  // pino does not apply formatters to the bindings of a child logger.
  const { child } = logger;
  logger.child = function keepingChild(this: Logger, bindings: object, ...rest: unknown[]) {
    return Reflect.apply(child, this, [keepIdsAndCounts(bindings), ...rest]);
  } as typeof child;
  return logger;
}

function writeBoth(lines: { write(line: string): unknown }, copyTo: (line: string) => void) {
  return {
    write(line: string) {
      lines.write(line);
      copyTo(line);
    },
  };
}

function keepIdsAndCounts(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, keep(key, value)]));
}

function keep(key: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  // Comes before the check of keys: a number is never a secret, and `status_authorized` is a count.
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (SECRET_KEY.test(key) && !ID_KEY.test(key)) return LEFT_OUT;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return isOurText(key, value) ? value.slice(0, MAX_TEXT) : LEFT_OUT;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return describeError(value);
  if (Array.isArray(value)) return value.map((item) => keep(key, item));
  return typeof value === 'object' ? keepIdsAndCounts(value) : LEFT_OUT;
}

function isOurText(key: string, value: string): boolean {
  return (TEXT_KEYS.has(key) || ID_KEY.test(key)) && !value.includes('@');
}

/** The message of an error may quote a row (Postgres does that). Its name, code and stack are sufficient for a log. */
function describeError(error: Error): Record<string, unknown> {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    code: error instanceof KnownError ? error.details.code : errorCode(error),
    stack: frames.map((line) => line.trim()),
  };
}
