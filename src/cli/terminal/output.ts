import { existsSync } from 'node:fs';
import type { KnownErrorDetails } from '../../core/known-error.ts';
import { packageFile } from '../../core/package.ts';
import type { Progress } from '../../core/progress.ts';
import { toPrintable, toPrintableJson } from '../../core/text/printable.ts';
import type { Block } from '../../render/block.ts';
import { renderKnownError, renderUnknownError, safeMessage } from '../../render/error.ts';
import { html } from '../../render/html/html.ts';
import { renderBlocks } from '../../render/render-blocks.ts';
import { createTerminal, type Terminal } from '../../render/terminal.ts';
import { completeCommands, configOption, type NamedConfig } from './complete-commands.ts';
import { createBarProgress, createEventProgress, createLineProgress } from './progress.ts';

/**
 * The output of a command: results on standard output, everything else on standard error. Texts say which
 * command to run next as one would type it for the default configuration; `print`, `warn` and `fail` add the
 * options that name the configuration of this command.
 */
export type Output = {
  /** Whether `--json` was given: standard output then contains only NDJSON events. */
  readonly json: boolean;
  readonly terminal: Terminal;
  /** Prints text for a person; nothing with `--json`. */
  print(text: string): void;
  /** Prints an answer for a person; nothing with `--json`, or if it is empty. */
  show(blocks: readonly Block[]): void;
  /** Prints rows of data; nothing with `--json`. What looks like a command in them stays as it is. */
  printRows(text: string): void;
  /** Writes bytes unchanged, when standard output is used as a file. */
  write(bytes: Buffer): void;
  /** Writes one event; nothing without `--json`. */
  emit(event: object): void;
  /** Writes one event that is already JSON text, so that its numbers stay as written; nothing without `--json`. */
  emitText(event: string): void;
  /** Prints text for a person on standard error: warnings, questions. */
  warn(text: string): void;
  /** Writes a log line, already JSON, to standard error. */
  log(line: string): void;
  /** Creates the progress display: drawn on a terminal, line by line elsewhere, as events with `--json`. */
  createProgress(): Progress;
  /** Adds the options to the commands in a text that is not printed here, such as a field of an event. */
  complete(text: string): string;
  /** Adds the options to the commands in an HTML page. */
  completePage(page: string): string;
  /** The same output for texts about another configuration. */
  about(options: NamedConfig): Output;
  /** Reports a known error to a person and, with `--json`, to a program. */
  fail(problem: KnownErrorDetails): void;
  crash(error: unknown): void;
};

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

export function createOutput(options: {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly json: boolean;
  /** The names of the commands that read a configuration. */
  readonly commands?: ReadonlySet<string>;
}): Output {
  const { stdout, stderr, json, commands = new Set() } = options;
  ignoreClosedPipe(stdout);
  ignoreClosedPipe(stderr);
  const terminal = createTerminal(stdout, process.env);
  const errorTerminal = createTerminal(stderr, process.env);
  const emit = (event: object): void => {
    if (json) stdout.write(`${toPrintableJson(JSON.stringify(withSnakeCaseKeys(event)))}\n`);
  };
  const outputAbout = (option: string): Output => {
    const complete = (text: string): string => completeCommands(text, option, commands);
    return {
      json,
      terminal,
      emit,
      complete,
      completePage: (page) => completeCommands(page, html`${option}`.toString(), commands),
      about: (options) => outputAbout(configOption(options)),
      emitText: (event) => {
        if (json) stdout.write(`${toPrintableJson(event)}\n`);
      },
      print(text) {
        if (!json) write(stdout, terminal, complete(text));
      },
      show(blocks) {
        if (blocks.length > 0) this.print(renderBlocks(blocks, terminal));
      },
      printRows(text) {
        if (!json) write(stdout, terminal, text);
      },
      write: (bytes) => void stdout.write(bytes),
      warn: (text) => write(stderr, errorTerminal, complete(text)),
      log: (line) => void stderr.write(line),
      createProgress() {
        if (json) return createEventProgress(emit);
        return errorTerminal.isInteractive
          ? createBarProgress(stderr, errorTerminal)
          : createLineProgress(stderr);
      },
      fail(problem) {
        const completed = { ...problem, help: complete(withPages(problem)) };
        const { cause: _cause, exitCode, ...details } = completed;
        emit({ event: 'error', ...details, exit_code: exitCode });
        write(stderr, errorTerminal, complete(renderKnownError(completed, errorTerminal)));
      },
      crash(error) {
        emit({ event: 'error', code: 'crash', message: safeMessage(error), exit_code: 1 });
        write(stderr, errorTerminal, renderUnknownError(error, errorTerminal));
      },
    };
  };
  return outputAbout('');
}

/** Writes text. Parts of it come from others, so it is made safe: see `toPrintable`. */
function write(stream: Stream, { isStyled }: Terminal, text: string): void {
  const shown = toPrintable(text, { isStyled });
  stream.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Event keys are snake case, whatever type they come from: `deal_id`, never `dealId`. */
function withSnakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCaseKeys);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [snakeCase(key), withSnakeCaseKeys(part)]),
  );
}

function snakeCase(key: string): string {
  return key.replace(/[a-z0-9](?=[A-Z])/g, (letter) => `${letter}_`).toLowerCase();
}

/** Ignores a closed pipe, for example of `| head`. A run must continue, and further output is dropped. */
function ignoreClosedPipe(stream: Stream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
  });
}

/** The help of an error, with the command that shows the page that it names, where the folder has no such file. */
function withPages({ help, problems = [] }: KnownErrorDetails): string {
  const text = [help, ...problems.map((problem) => problem.help)].join('\n');
  const page = /\bdocs\/[a-z/-]+\.md/.exec(text)?.[0];
  if (page === undefined || existsSync(page) || !existsSync(packageFile(page))) return help;
  return `${help}\nTo read that page:  npx influencer-sync help ${page}`;
}
