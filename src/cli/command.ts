import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { ExitCode } from '../core/exit-code.ts';
import { isDay } from '../core/time/day.ts';
import { isMonth } from '../core/time/month.ts';
import type { Opened } from './open/open-command.ts';
import type { ConfigOptions } from './open/open-config.ts';
import type { Output } from './terminal/output.ts';
import { requireReason } from './usage-error.ts';

/** The end of an action: its exit code; nothing if it has succeeded. */
type Ended = Promise<ExitCode> | Promise<void>;

/** Turns what a command does into an action: passes the output to it and stores its exit code. */
export type Act = (action: (output: Output) => Ended, command: Command) => () => Promise<void>;

/** What an action works with, besides what it was given. */
export type Means = {
  readonly output: Output;
  /** Reads the configuration, and opens the database for each piece of work. @see openCommand */
  open(how?: { readonly warnsOfTerms?: boolean }): Promise<Opened>;
  /** The command itself, from which the others are found. */
  readonly self: Command;
};

/**
 * An argument such as `<file>`, or an option such as `--limit <count>`: how it is written, what it means, how its text is
 * parsed or which texts it can be, and its default.
 */
export type Parameter = readonly [
  written: string,
  meaning: string,
  read?: Parser | readonly string[] | undefined,
  byDefault?: unknown,
];

/** @param before the value that the option has already, if it is given several times. */
type Parser = (text: string, before: never) => unknown;

export type Parameters = readonly Parameter[];

type Decision = { readonly says: string; readonly kept: string };

/** A command as it is written down: what its action is given follows from its parameters. */
type Definition<Given> = {
  readonly name: string;
  /** At most 63 columns, for the list of commands. By default, the description. */
  readonly summary?: string;
  readonly description: string;
  /** Whether help omits the command, because only this project's own programs use it. */
  readonly isHidden?: boolean;
  /** Whether its parent does this without a second word. */
  readonly isDefault?: boolean;
  /** False if it reads no configuration and so has no options that name one. */
  readonly readsConfig?: boolean;
  /** Whether it changes something, so that it has `--dry-run`. */
  readonly changes?: boolean;
  /**
   * Given if it is a decision, which changes something and requires a reason: what the reason says, such as `why`, and where
   * it is kept, such as `with the claim`.
   */
  readonly decides?: Decision;
  /** Options that must be given. */
  readonly requires?: Parameters;
  /** Its arguments, and the options that may be given. */
  readonly takes?: Parameters;
  /** Changes how Commander parses its words, or helps with them. */
  readonly adjust?: (command: Command) => unknown;
  readonly examples?: readonly (readonly [command: string, meaning: string])[];
  readonly notes?: string;
  readonly commands?: readonly CommandDefinition[];
  /**
   * Receives its arguments and options by their names. It imports its dependencies itself, so that `--help` loads none of
   * them.
   */
  readonly action?: (means: Means, given: Given) => Ended;
};

export type CommandDefinition = Definition<never>;

type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;

/** `notAtBank` for `--not-at-bank`, `limit` for `--limit <count>`, `escapeFormulas` for `--no-escape-formulas`. */
type NameOf<Written> = Written extends `${infer Name} ${string}`
  ? NameOf<Name>
  : Written extends `--no-${infer Name}`
    ? Camel<Name>
    : Written extends `--${infer Name}`
      ? Camel<Name>
      : Written extends `${'<' | '['}${infer Name}${'...>' | '...]'}`
        ? Camel<Name>
        : Written extends `${'<' | '['}${infer Name}${'>' | ']'}`
          ? Camel<Name>
          : never;

/** What a parameter is read as: by its parser, else one of its choices, text, texts, or whether it is given. */
type ValueOf<One extends Parameter> = One extends readonly [
  string,
  string,
  (...args: never) => infer Value,
  ...unknown[],
]
  ? Value
  : One extends readonly [string, string, readonly (infer Choice)[], ...unknown[]]
    ? Choice
    : One[0] extends `${string}...${string}`
      ? readonly string[]
      : One[0] extends `--no-${string}`
        ? boolean
        : One[0] extends `${string}${'<' | '['}${string}`
          ? string
          : boolean;

/** Parameters that have a value in any case, given or not. */
type Certain<One> = One extends
  | readonly [`<${string}` | `[${string}...]` | `--no-${string}`, ...unknown[]]
  | readonly [string, string, unknown, unknown]
  ? One
  : never;

type Values<One extends Parameter> = { readonly [Each in One as NameOf<Each[0]>]: ValueOf<Each> };

type Given<Requires extends Parameters, Takes extends Parameters, Decides> = ConfigOptions &
  Values<Requires[number] | Certain<Takes[number]>> &
  Partial<Values<Exclude<Takes[number], Certain<Takes[number]>>>> &
  (Decides extends Decision ? { readonly reason: string } : unknown);

/** What an action is given by its parameters, for functions that it calls. */
export type GivenBy<Takes extends Parameters> = Given<[], Takes, undefined>;

/** Defines a command. Its action is given what its parameters say, by their names. */
export function defineCommand<
  const Requires extends Parameters = [],
  const Takes extends Parameters = [],
  Decides extends Decision | undefined = undefined,
>(
  definition: Definition<Given<Requires, Takes, Decides>> & {
    readonly requires?: Requires;
    readonly takes?: Takes;
    readonly decides?: Decides;
  },
): CommandDefinition {
  return definition;
}

/** Adds a command to the program or to another command. */
export function addCommand(parent: Command, definition: CommandDefinition, act: Act): void {
  const { name, description, summary = description, requires = [], takes = [] } = definition;
  const { isHidden = false, isDefault = false, readsConfig = true, changes = false } = definition;
  const { examples = [], notes, commands = [], decides, action } = definition;
  const command = parent
    .command(name, { hidden: isHidden, isDefault })
    .description(description)
    .summary(summary);
  for (const one of readsConfig ? CONFIG_OPTIONS : []) addParameter(command, one);
  for (const one of requires) addParameter(command, one, { isRequired: true });
  for (const one of takes) addParameter(command, one);
  definition.adjust?.(command);
  if (decides !== undefined)
    command.requiredOption('--reason <text>', `${decides.says}; kept ${decides.kept}`, (text) =>
      requireReason(text, decides.kept),
    );
  if (changes || decides !== undefined)
    command.option('--dry-run', 'show what it would do, and change and send nothing');
  const lines = examples.flatMap(([example, meaning]) => [
    `  # ${meaning}`,
    `  npx influencer-sync ${example}`,
  ]);
  if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  if (notes !== undefined) command.addHelpText('after', `\n${notes}`);
  for (const one of commands) addCommand(command, one, act);
  if (action === undefined) return;
  // `Given` follows from the parameters that Commander has read.
  command.action(act((output) => action(meansOf(command, output), givenTo(command) as never), command));
}

function meansOf(self: Command, output: Output): Means {
  return {
    output,
    self,
    async open(how) {
      const { openCommand } = await import('./open/open-command.ts');
      return openCommand(output, self.opts<ConfigOptions>(), how);
    },
  };
}

/** The options and arguments of a command line by their names, as Commander has read them. */
function givenTo(command: Command): Readonly<Record<string, unknown>> {
  const { registeredArguments, processedArgs } = command;
  const named = registeredArguments.flatMap((one, at) =>
    processedArgs[at] === undefined ? [] : [[one.name(), processedArgs[at]] as const],
  );
  return { ...command.opts(), ...Object.fromEntries(named) };
}

function addParameter(
  command: Command,
  [written, meaning, read, byDefault]: Parameter,
  { isRequired = false } = {},
): void {
  const isOption = written.startsWith('-');
  const parameter = isOption ? new Option(written, meaning) : new Argument(written, meaning);
  if (typeof read === 'function') parameter.argParser(read as (text: string, before: unknown) => unknown);
  else if (read !== undefined) parameter.choices(read);
  parameter.default(byDefault);
  if (parameter instanceof Option) command.addOption(parameter.makeOptionMandatory(isRequired));
  else command.addArgument(parameter);
}

const CONFIG_OPTIONS: readonly Parameter[] = [
  [
    '-c, --config <path>',
    'configuration file (default: INFLUENCER_SYNC_CONFIG, else the nearest pipeline.yaml)',
  ],
  ['--env-file <path>', 'read variables from a file such as .env; variables of the shell take precedence'],
  ['--json', 'write events for programs to standard output, one JSON object per line'],
];

/** Whether a command waits for the leases of a process that may be gone; undefined: on a terminal. */
export const WAIT = [
  '--wait',
  'if an earlier run was killed, wait until its lease is over; the default on a terminal. Ends with 5 if that run is alive',
] as const;
export const NO_WAIT: Parameter = ['--no-wait', 'do not wait for it, on a terminal either'];

/** Parses `--limit`. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count === 0)
    throw new InvalidArgumentError('It should be a whole number from 1.');
  return count;
}

/** Options of a command that covers all orders by default. */
export const MONTH_OPTIONS = [
  ['--from <month>', 'first month, such as 2026-08 (default: of all orders)', parseMonth],
  ['--to <month>', 'last month', parseMonth],
] as const satisfies Parameters;

/** Parses a month such as 2026-10. */
export function parseMonth(text: string): string {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError('Write it like 2026-10.');
}

/** Parses a day such as `2026-10-31`. */
export function parseDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It should be a day of the calendar, like 2026-10-31.');
}

/** Parses `--port`. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It should be a whole number from 0 to 65535.');
}

/** Parses an id of a run or an entry. */
export function parseId(text: string): string {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('It should be a number from a listing.');
  return text;
}
