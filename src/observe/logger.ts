import { destination, type Logger, levels, pino } from 'pino';
import { KnownError } from '../model/known-error.ts';
import { toPrintableJson } from '../model/text/printable.ts';

export type LoggerOptions = {
  /** LOG_LEVEL; empty or unknown: `info`, or `silent` on a terminal, where progress tells a person what the log tells a machine. */
  readonly level?: string | undefined;
  readonly isInteractive: boolean;
  /** Where lines go; standard error when not given. Standard output is for results. */
  readonly stream?: { write(line: string): void };
  /** Gets each line as well. */
  readonly copyTo?: (line: string) => void;
};

const STDERR = 2;

/** Text under these keys is an id or a word of ours. All other text stays out. */
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
]);
const ID_KEY = /(^id|_id|Id|_hash|Hash)$/;
const SECRET_KEY = /key|secret|token|password|auth|mail/i;
const LEFT_OUT = '[left out]';
const MAX_TEXT = 200;

/**
 * Logs JSON lines with ids and counts. What else is handed in is left out, so that no row value, address or secret can reach a log by
 * mistake: numbers, booleans and instants pass; text only under the key of an id or of one of our own words.
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
      // A line is JSON; in a terminal it is shown, and nothing in it obeyed.
      streamWrite: toPrintableJson,
      // Only fields and a message of ours: nothing is put into the message, and an error does not become it.
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
  // The formatters of pino do not see what a child is bound to.
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
  // Before keys are looked at: no number is a secret, and `status_authorized` is a count.
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

/** A message may quote a row (Postgres does); the name, the code and the place tell what a log needs. */
function describeError(error: Error): Record<string, unknown> {
  const code: unknown =
    error instanceof KnownError ? error.details.code : 'code' in error ? error.code : undefined;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: error.name,
    code: typeof code === 'string' ? code : null,
    stack: frames.map((line) => line.trim()),
  };
}
