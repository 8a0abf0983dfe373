import { type CommandDefinition, parsePort } from '../command.ts';
import type { ServeOptions } from './perform-serve.ts';

export const serveCommand: CommandDefinition = {
  name: 'serve',
  summary: 'run jobs on their schedules, with the console and metrics',
  description:
    'run jobs on their schedules until stopped, serve the console and metrics, and receive events if configured',
  takes: [
    [
      '--port <number>',
      'port of /healthz, /readyz and /metrics instead of serve.port, 0 for a free one',
      parsePort,
    ],
  ],
  examples: [
    ['serve', 'what a container or a systemd unit runs'],
    ['serve --env-file .env', 'with variables from a file'],
    ['status', 'in another terminal: what comes next, what was missed, the state of all jobs'],
  ],
  action: async (output, options: ServeOptions) =>
    (await import('./perform-serve.ts')).performServe(output, options),
};
