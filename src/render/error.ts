import { errorCode } from '../core/error-code.ts';
import type { KnownErrorDetails } from '../core/known-error.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { wrap } from '../core/text/wrap.ts';
import type { Terminal } from './terminal.ts';

/** Renders a known error for a person: what happened, where, how to fix it, and what is safe. Never a stack trace. */
export function renderKnownError(details: KnownErrorDetails, terminal: Terminal): string {
  const { columns: width } = terminal;
  const lines = [wrap(`Error: ${details.message}`, { width, indent: '  ', firstIndent: '' })];
  lines[0] = (lines[0] ?? '').replace('Error:', terminal.style(['red', 'bold'], 'Error:'));
  if (details.where !== undefined) lines.push(`  ${terminal.style('dim', `at ${details.where}`)}`);
  for (const problem of details.problems ?? []) {
    lines.push('', `  ${terminal.style('bold', problem.where)}`);
    lines.push(
      wrap(problem.message, { width, indent: '    ' }),
      terminal.style('cyan', wrap(problem.help, { width, indent: '    ' })),
    );
  }
  lines.push('', wrap(details.help, { width, indent: '  ' }));
  if (details.safe !== undefined)
    lines.push(terminal.style('dim', wrap(details.safe, { width, indent: '  ' })));
  return `${lines.join('\n')}\n`;
}

/** Renders a warning before a command continues. */
export function renderWarning(text: string, { columns: width }: Pick<Terminal, 'columns'>): string {
  return wrap(`Warning: ${text}`, { width, indent: '  ', firstIndent: '' });
}

/** Postgres quotes the value in errors of SQLSTATE class 22 (data exception). */
const DATA_EXCEPTION = /^22/;

/** The message of an unknown error, without values of rows and e-mail addresses. */
export function safeMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = errorCode(error) ?? '';
  const withoutValues = DATA_EXCEPTION.test(code) ? message.replace(/"[^"]*"/g, '"…"') : message;
  return maskAddresses(withoutValues);
}

/** Renders an unknown error, which is a bug, with the information needed to find it. */
export function renderUnknownError(error: unknown, terminal: Terminal): string {
  const message = error instanceof Error ? `${error.name}: ${safeMessage(error)}` : safeMessage(error);
  const stack =
    error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const title = terminal.style(['red', 'bold'], 'Error:');
  const help =
    'This is a bug in influencer-sync, or an error that it does not know yet. Please report it with the lines above. The next run continues from what the ledger has recorded, and posts nothing twice. Orders without a known answer are shown as in doubt.';
  return `${[`${title} ${message}`, ...stack, '', wrap(help, { width: terminal.columns, indent: '  ' })].join('\n')}\n`;
}
