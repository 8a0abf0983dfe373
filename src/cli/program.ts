import { Command, CommanderError } from 'commander';
import { EXIT, type ExitCode } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import { readVersion } from '../core/package.ts';
import { shellWord, toPrintableLine } from '../core/text/printable.ts';
import { renderWarning } from '../render/error.ts';
import { apiCommand } from './api/api.ts';
import { sandboxCommand } from './api/sandbox.ts';
import { webhooksCommand } from './api/webhooks.ts';
import { backfillCommand } from './backfill/backfill.ts';
import { type Act, addCommand, type CommandDefinition } from './command.ts';
import { consoleCommand } from './console/console.ts';
import { demoCommand } from './demo/demo.ts';
import { checksCommand } from './files/checks.ts';
import { filesCommand } from './files/files.ts';
import { rejectedCommand } from './files/rejected.ts';
import { helpCommand } from './help/help.ts';
import { initCommand } from './init/init.ts';
import { doctorCommand } from './inspect/doctor.ts';
import { explainCommand } from './inspect/explain.ts';
import { notifyCommand } from './inspect/notify.ts';
import { queryCommand } from './inspect/query.ts';
import { statusCommand } from './inspect/status.ts';
import { ledgerCommand } from './ledger/ledger.ts';
import { accrualsCommand } from './money/accruals.ts';
import { claimsCommand } from './money/claims.ts';
import { conflictsCommand } from './money/conflicts.ts';
import { leaksCommand } from './money/leaks.ts';
import { paymentsCommand } from './money/payments.ts';
import { reconcileCommand } from './money/reconcile.ts';
import { returnsCommand } from './money/returns.ts';
import { statementCommand } from './money/statement.ts';
import { termsCommand } from './money/terms.ts';
import type { ConfigOptions } from './open/open-config.ts';
import { forgetCommand } from './privacy/forget.ts';
import { hashKeyCommand } from './privacy/hash-key.ts';
import { pruneCommand } from './privacy/prune.ts';
import { reviewCommand } from './review/review.ts';
import { jobsCommand } from './run/jobs.ts';
import { planCommand, runCommand } from './run/run.ts';
import { runsCommand } from './run/runs.ts';
import { serveCommand } from './run/serve.ts';
import { workCommand } from './run/work.ts';
import { codesCommand } from './setup/codes.ts';
import { completeWordsCommand, completionCommand } from './setup/completion.ts';
import { configCommand } from './setup/config.ts';
import { layoutsCommand } from './setup/layouts.ts';
import { migrateCommand } from './setup/migrate.ts';
import { createOutput } from './terminal/output.ts';
import { usageError } from './usage-error.ts';

/** All commands, in the order of the help text: those of every day first, those that are rarely used last. */
const GROUPS: readonly (readonly [heading: string, commands: readonly CommandDefinition[]])[] = [
  [
    'Every day:',
    [
      initCommand,
      doctorCommand,
      planCommand,
      runCommand,
      statusCommand,
      explainCommand,
      reviewCommand,
      consoleCommand,
    ],
  ],
  [
    'Files and settings:',
    [filesCommand, rejectedCommand, checksCommand, codesCommand, layoutsCommand, configCommand],
  ],
  [
    'Schedules and history:',
    [serveCommand, jobsCommand, runsCommand, notifyCommand, backfillCommand, workCommand],
  ],
  [
    'Money and figures:',
    [
      statementCommand,
      accrualsCommand,
      paymentsCommand,
      termsCommand,
      claimsCommand,
      returnsCommand,
      reconcileCommand,
      leaksCommand,
      conflictsCommand,
      queryCommand,
    ],
  ],
  ['The service, and trials without it:', [demoCommand, apiCommand, webhooksCommand]],
  [
    'Rarely:',
    [
      helpCommand,
      completionCommand,
      migrateCommand,
      ledgerCommand,
      forgetCommand,
      pruneCommand,
      hashKeyCommand,
      completeWordsCommand,
    ],
  ],
];

/** The names of the commands that read a configuration. */
export const CONFIGURED: ReadonlySet<string> = new Set(namesOf(GROUPS.flatMap(([, commands]) => commands)));

function namesOf(commands: readonly CommandDefinition[], before = ''): readonly string[] {
  return commands.flatMap(({ name, readsConfig = true, commands: inner = [] }) => [
    // One that does the same as its subcommand takes the options of that one.
    ...(readsConfig || inner.some(({ isDefault }) => isDefault) ? [before + name] : []),
    ...namesOf(inner, `${before}${name} `),
  ]);
}

/** What the program needs from its process. */
export type Surroundings = {
  readonly argv: readonly string[];
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
};

const INTRODUCTION =
  'Reads the order and customer exports of shops, and reports to an influencer-marketing service which orders an influencer earned: each order once, and none lost.';

const EXIT_CODES = `
npx influencer-sync <command> --help shows its options and examples, and
npx influencer-sync help <word> finds commands, pages and error codes.

Exit codes: 0 success, 1 unreachable, or a crash, 2 configuration or usage,
3 done; rows or orders wait for you, 4 key refused, 5 already running,
6 in doubt, 7 the ledger lost claims, 8 forget found no customer,
130 interrupted`;

/** Runs one command line. Known errors are explained and others are reported as bugs; it never throws. */
export async function runProgram({ argv, stdout, stderr }: Surroundings): Promise<ExitCode> {
  let output = createOutput({ stdout, stderr, json: argv.includes('--json'), commands: CONFIGURED });
  let exitCode: ExitCode = EXIT.ok;
  const act: Act = (action, command) => async () => {
    takeOptionsBefore(command);
    output = output.about(command.opts<ConfigOptions>());
    const onMisled: ConfigOptions['onMisled'] = ({ message, help }) =>
      output.warn(renderWarning(`${message} ${help}`, output.terminal));
    const onConfigFound: ConfigOptions['onConfigFound'] = (path) => {
      if (!output.json) output.warn(`Configuration: ${path}`);
    };
    command.setOptionValueWithSource('onMisled', onMisled, 'implied');
    command.setOptionValueWithSource('onConfigFound', onConfigFound, 'implied');
    exitCode = (await action(output)) ?? EXIT.ok;
  };
  try {
    const program = createProgram(act, { stdout, stderr });
    refuseOptionsFirst(program, argv.slice(2));
    await program.parseAsync(argv);
    return exitCode;
  } catch (error) {
    // Commander has already printed the help text or the problem with the command line.
    // A command that only groups others lists them, which is no mistake.
    if (error instanceof CommanderError)
      return error.exitCode === 0 || error.code === 'commander.help' ? EXIT.ok : EXIT.configuration;
    if (error instanceof KnownError) {
      output.fail(error.details);
      return error.details.exitCode;
    }
    output.crash(error);
    return EXIT.crash;
  }
}

/** Creates the Commander program with all commands. */
export function createProgram(act: Act, { stdout, stderr }: Omit<Surroundings, 'argv'> = process): Command {
  const program = new Command('influencer-sync')
    .description(INTRODUCTION)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .version(readVersion(), '-V, --version')
    .exitOverride()
    // An option belongs to the command that it follows: `webhooks list --json`.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help to see its arguments)')
    .helpCommand(false)
    // Arguments are in the help of the command, so that each is described in one line here.
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText('after', EXIT_CODES);
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const command of commands) addCommand(program, command, act);
    // It is a program of its own, with the commands of the sandbox.
    if (commands.includes(demoCommand)) program.addCommand(sandboxCommand().copyInheritedSettings(program));
  }
  return program;
}

/**
 * Says what to type if options of a command stand before its name: `--config shop/pipeline.yaml status`.
 *
 * @throws KnownError `usage` (exit 2).
 */
function refuseOptionsFirst(program: Command, words: readonly string[]): void {
  const [first = ''] = words;
  const names = new Set(program.commands.map((command) => command.name()));
  const at = words.findIndex((word) => names.has(word));
  if (at < 1 || !first.startsWith('-') || /^-(?:h|V|-help|-version)$/.test(first)) return;
  throw usageError(
    `${toPrintableLine(first)} is before the command.`,
    `Write options after it:  npx influencer-sync ${[...words.slice(at), ...words.slice(0, at)].map(shellWord).join(' ')}`,
  );
}

/**
 * Options before a subcommand count as if they followed it: `backfill --dry-run resume`. Commander gives them only to
 * the parent, whose action does not run.
 */
function takeOptionsBefore(command: Command): void {
  for (let { parent } = command; parent !== null; { parent } = parent)
    for (const option of parent.options) {
      const name = option.attributeName();
      if (parent.getOptionValueSource(name) !== 'cli') continue;
      if (!command.options.some((own) => own.attributeName() === name))
        throw usageError(
          `${parent.name()} ${command.name()} has no option ${option.long}.`,
          'Write options after the whole name of the command, and add --help to see those that it has.',
        );
      if (command.getOptionValueSource(name) !== 'cli')
        command.setOptionValueWithSource(name, parent.getOptionValue(name), 'cli');
    }
}

/** A command in a list: by its name, behind another command with its arguments. */
function termOf(command: Command): string {
  const { registeredArguments: taken, parent } = command;
  const isOfProgram = parent?.parent === null;
  const shown = taken.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  return [command.name(), ...(isOfProgram ? [] : shown)].join(' ');
}
