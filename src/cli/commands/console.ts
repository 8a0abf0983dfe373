import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parsePort,
} from '../command.ts';

export type ConsoleCommandOptions = ConfigOptions & {
  readonly host: string;
  readonly port: number;
  readonly open?: boolean;
  readonly hashPassword?: boolean;
};

export const consoleCommand: CommandDefinition = {
  name: 'console',
  define(command, act) {
    addConfigOptions(
      command.description(
        'show what happened in a browser, and settle doubts there; `serve` serves the same pages',
      ),
    )
      .option(
        '--host <address>',
        'address to listen on; any address except 127.0.0.1 needs console.auth',
        '127.0.0.1',
      )
      .option('--port <number>', 'port to listen on, 0 for a free one', parsePort, 4080)
      .option('--open', 'open the console in the browser of this machine')
      .option(
        '--hash-password',
        'read a password from standard input and print the password_hash for console.auth.users',
      );
    addExamples(command, [
      ['console', 'pages at http://127.0.0.1:4080'],
      ['console --port 0 --open', 'on a free port, opened in the browser'],
    ]);
    command.action(
      act(async (output, options: ConsoleCommandOptions) =>
        (await import('../actions/perform-console.ts')).performConsole(output, options),
      ),
    );
  },
};
