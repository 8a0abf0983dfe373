import type { ExitCode } from './exit-code.ts';

/** One of several problems that were found at once. No secrets, no row values, no addresses. */
export type Problem = {
  /** `config/pipeline.yaml:12:7`. */
  readonly where: string;
  /** What is wrong and why, in one sentence. */
  readonly message: string;
  /** How to fix it. */
  readonly help: string;
};

/** What a person is told when something known goes wrong: printed without a stack trace. */
export type KnownErrorDetails = {
  /** Stable machine name, for example `config_invalid`. */
  readonly code: string;
  /** What went wrong, in one sentence. No secrets, no row values, no addresses. */
  readonly message: string;
  /** Where: file, line, column, job, object. */
  readonly where?: string;
  /** How to fix it, or the next command to run. */
  readonly help: string;
  /** What is safe: what was and was not done. */
  readonly safe?: string;
  /** Several problems found at once, each with its place. Printed one by one. */
  readonly problems?: readonly Problem[];
  readonly exitCode: ExitCode;
  readonly cause?: unknown;
};

/** An expected failure that stops a run. Anything else that is thrown is a bug. */
export class KnownError extends Error {
  readonly details: KnownErrorDetails;

  constructor(details: KnownErrorDetails) {
    super(details.message, { cause: details.cause });
    this.name = 'KnownError';
    this.details = details;
  }
}
