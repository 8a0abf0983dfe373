import {
  addConfigOptions,
  addExamples,
  type CommandDefinition,
  type ConfigOptions,
  parsePort,
} from './command.ts';

export type ServeOptions = ConfigOptions & { readonly port?: number };

export const serveCommand: CommandDefinition = {
  name: 'serve',
  define(command, act) {
    addConfigOptions(
      command.description(
        'run jobs by their schedule, until it is stopped; receives events where that is set up; /healthz, /readyz, /metrics',
      ),
    ).option(
      '--port <number>',
      'port of /healthz, /readyz and /metrics instead of serve.port, 0 for a free one',
      parsePort,
    );
    addExamples(command, [
      ['serve', 'what a container or a systemd unit runs'],
      ['serve --env-file .env', 'with the variables of a file'],
      ['status', 'in another terminal: what comes next, what was missed, how things stand'],
    ]);
    command.action(
      act(async (output, options: ServeOptions) =>
        (await import('../actions/perform-serve.ts')).performServe(output, options),
      ),
    );
  },
};
