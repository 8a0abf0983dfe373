import { EXIT, type ExitCode } from './exit-code.ts';
import type { RejectedRow } from './record.ts';

/** One of several problems that were found at once. Contains no secrets, no row values and no addresses. */
export type Problem = {
  /** Position of the problem, for example `config/pipeline.yaml:12:7`. */
  readonly where: string;
  /** What is wrong and why, in one sentence. */
  readonly message: string;
  readonly help: string;
};

/** A mistake in a small CSV file, such as codes.csv. It contains no e-mail address. */
export type RowProblem = Pick<RejectedRow, 'line' | 'column' | 'value' | 'reason' | 'help'>;

/** The message for a known problem. It is printed without a stack trace. */
export type KnownErrorDetails = {
  /** Stable machine name, for example `config_invalid`. */
  readonly code: string;
  /** What went wrong, in one sentence. Contains no secrets, no row values and no addresses. */
  readonly message: string;
  /** Where it happened: file, line, column, job, object. */
  readonly where?: string;
  /** How to fix it, or the next command to run. */
  readonly help: string;
  /** What was and was not done, so that the reader knows what is safe. */
  readonly safe?: string;
  /** Several problems found at once, each with its position. They are printed one by one. */
  readonly problems?: readonly Problem[];
  readonly exitCode: ExitCode;
  readonly cause?: unknown;
};

/** An expected failure that stops a run, by default as any other failure does (exit 1). Any other error is a bug. */
export class KnownError extends Error {
  readonly details: KnownErrorDetails;

  constructor(details: Omit<KnownErrorDetails, 'exitCode'> & { readonly exitCode?: ExitCode }) {
    super(details.message, { cause: details.cause });
    this.name = 'KnownError';
    this.details = { exitCode: EXIT.crash, ...details };
  }
}

/** What went wrong, and where, in one sentence: `The folder does not exist (/exports/shop/).` */
export function sayWhere({ message, where }: Pick<KnownErrorDetails, 'message' | 'where'>): string {
  if (where === undefined || message.includes(where)) return message;
  return `${message.replace(/\.$/, '')} (${where}).`;
}

/** Creates an error about the configuration, a file that it names, or the command line (exit 2). */
export function configurationError(details: Omit<KnownErrorDetails, 'exitCode'>): KnownError {
  return new KnownError({ ...details, exitCode: EXIT.configuration });
}

/** Creates an error with which a command or a decision ends before it has changed anything (exit 2). */
export function refusal(details: Omit<KnownErrorDetails, 'exitCode'>): KnownError {
  return configurationError({ safe: 'Nothing was changed.', ...details });
}
