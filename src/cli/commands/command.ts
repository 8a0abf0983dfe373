import { type Command, InvalidArgumentError } from 'commander';
import type { Misled } from '../../config/environment/unused-variables.ts';
import type { ExitCode } from '../../model/exit-code.ts';
import { isMonth } from '../../model/time/month.ts';
import type { Output } from '../terminal/output.ts';

/**
 * Turns what a command does into an action: gives it the output, takes the exit code.
 * What a command needs beyond its options it imports inside, so that `--help` loads none of it.
 */
export type Act = <Arguments extends readonly unknown[]>(
  action: (output: Output, ...args: Arguments) => Promise<ExitCode>,
) => (...args: Arguments) => Promise<void>;

/** One command, as its file declares it. */
export type CommandDefinition = {
  readonly name: string;
  /** For programs of ours: help does not list it. */
  readonly isHidden?: boolean;
  /** Says what the command takes and does. */
  readonly define: (command: Command, act: Act) => void;
};

/** What every command that reads the configuration takes. */
export type ConfigOptions = {
  readonly config?: string;
  readonly envFile?: string;
  readonly json?: boolean;
  /** Told of settings that have no effect, before anything is done. The program gives it; no command has it as an option. */
  readonly onMisled?: (misled: Misled) => void;
};

export function addConfigOptions(command: Command): Command {
  return command
    .option(
      '-c, --config <path>',
      'configuration file (default: INFLUENCER_SYNC_CONFIG, else config/pipeline.yaml)',
    )
    .option(
      '--env-file <path>',
      'read variables from a file such as .env; variables of the shell take precedence',
    )
    .option('--json', 'write events for programs to standard output, one JSON object per line');
}

/** What a person types to name the configuration that a command was given, with a blank before it; empty for the default. */
export function configOption({ config, envFile }: ConfigOptions): string {
  return [
    config === undefined ? '' : ` --config ${config}`,
    envFile === undefined ? '' : ` --env-file ${envFile}`,
  ].join('');
}

/** Lines under `Examples:` at the end of a command's help. */
export function addExamples(
  command: Command,
  examples: readonly (readonly [command: string, meaning: string])[],
): Command {
  const lines = examples.flatMap(([example, meaning]) => [
    `  # ${meaning}`,
    `  npx influencer-sync ${example}`,
  ]);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** For `--limit`. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count === 0)
    throw new InvalidArgumentError('It should be a whole number from 1.');
  return count;
}

export type MonthOptions = { readonly from?: string; readonly to?: string };

/** `--from` and `--to`, of what is told for all orders otherwise. */
export function addMonthOptions(command: Command): Command {
  return command
    .option('--from <month>', 'first month, such as 2026-08 (default: of all orders)', parseMonth)
    .option('--to <month>', 'last month', parseMonth);
}

/** For a month such as 2026-10. */
export function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError('Write it like 2026-10.');
}

/** For `--port`. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It should be a whole number from 0 to 65535.');
}

/** For ids of our own: runs and entries. */
export function parseId(text: string): string {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It should be a number from a listing.');
  return text;
}
