import { defineCommand, parsePort } from '../command.ts';

export const serveCommand = defineCommand({
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
  action: async ({ output }, options) => (await import('./perform-serve.ts')).performServe(output, options),
});
