import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { CONFIGURED, createProgram } from '../../../src/cli/program.ts';
import { completeCommands } from '../../../src/cli/terminal/complete-commands.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import { EXIT } from '../../../src/core/exit-code.ts';

test.each([
  ['npx influencer-sync review lists them.', 'npx influencer-sync review -c x lists them.'],
  ['(npx influencer-sync rejected)', '(npx influencer-sync rejected -c x)'],
  ['`npx influencer-sync codes` checks', '`npx influencer-sync codes -c x` checks'],
  ['npx influencer-sync codes check', 'npx influencer-sync codes check -c x'],
  ['npx influencer-sync ledger', 'npx influencer-sync ledger'],
  ['npx influencer-sync runs', 'npx influencer-sync runs -c x'],
  ['npx influencer-sync backfill resume 1 --yes', 'npx influencer-sync backfill resume -c x 1 --yes'],
  ['npx influencer-sync backfill orders --plan', 'npx influencer-sync backfill -c x orders --plan'],
  ['npx influencer-sync ledger seeds lists them', 'npx influencer-sync ledger seeds -c x lists them'],
  ['npx influencer-sync sandbox --port 4010', 'npx influencer-sync sandbox --port 4010'],
  ['npx influencer-sync demo', 'npx influencer-sync demo'],
  ['npx influencer-sync reviews', 'npx influencer-sync reviews'],
  ['npx influencer-sync review2', 'npx influencer-sync review2'],
  ['npx influencer-sync explain\n  order 5 says why', 'npx influencer-sync explain\n  order -c x 5 says why'],
  ['npx influencer-sync plan job --config y', 'npx influencer-sync plan job --config y'],
  ['npx influencer-sync plan --env-file y job', 'npx influencer-sync plan --env-file y job'],
  [
    'npx influencer-sync plan job --config y, or npx influencer-sync runs',
    'npx influencer-sync plan job --config y, or npx influencer-sync runs -c x',
  ],
])('%s', (text, completed) => {
  expect(completeCommands(text, ' -c x', CONFIGURED)).toBe(completed);
});

test('a printer names the configuration of its command in what it prints, but not in rows of data', () => {
  const stdout = sink();
  const base = createOutput({ stdout, stderr: stdout, json: false, commands: CONFIGURED });
  const output = base.about({ config: 'a&b.yaml', envFile: '.env' });
  const text = 'npx influencer-sync review';
  const option = "--config 'a&b.yaml' --env-file .env";
  base.print(text);
  output.print(text);
  output.print(output.complete(text));
  output.warn(text);
  output.printRows(text);
  output.printRows(output.completePage(`<code>${text}</code>`));
  expect(stdout.text.split('\n')).toEqual([
    text,
    `${text} ${option}`,
    `${text} ${option}`,
    `${text} ${option}`,
    text,
    `<code>${text} --config &#39;a&amp;b.yaml&#39; --env-file .env</code>`,
    '',
  ]);
});

test('an error names the configuration in its help, for people and programs', () => {
  const [stdout, stderr] = [sink(), sink()];
  const output = createOutput({ stdout, stderr, json: true, commands: CONFIGURED }).about({
    config: 'x.yaml',
  });
  output.fail({
    code: 'bad',
    message: 'No.',
    help: 'npx influencer-sync review',
    exitCode: EXIT.configuration,
  });
  expect(JSON.parse(stdout.text)).toMatchObject({ help: 'npx influencer-sync review --config x.yaml' });
  expect(stderr.text).toContain('  npx influencer-sync review --config x.yaml\n');
});

type Sink = Writable & { text: string };

function sink(): Sink {
  const stream = new Writable({
    write(chunk, _encoding, done) {
      stream.text += String(chunk);
      done();
    },
  }) as Sink;
  stream.text = '';
  return stream;
}

/** Returns the words of each command that has an action of its own, and whether it reads a configuration. */
function wordsOf(
  command: Command,
  before: readonly string[] = [],
): { words: string; isConfigured: boolean }[] {
  return command.commands.flatMap((child) => {
    const words = [...before, child.name()];
    const isConfigured = child.options.some(({ long }) => long === '--config');
    return [{ words: words.join(' '), isConfigured }, ...wordsOf(child, words)];
  });
}

test('every command that takes a reason or a yes can be tried with --dry-run', () => {
  const lacking = (command: Command): readonly string[] => {
    const longs = command.options.map(({ long }) => long);
    const changes = longs.includes('--reason') || longs.includes('--yes');
    return [
      ...(changes && !longs.includes('--dry-run') ? [command.name()] : []),
      ...command.commands.flatMap(lacking),
    ];
  };
  expect(lacking(createProgram(() => async () => {}))).toEqual([]);
});

test('every suggested command that reads a configuration gets its option', () => {
  const program = createProgram(() => async () => {});
  const forgotten = wordsOf(program)
    .filter(({ isConfigured }) => isConfigured)
    .map(({ words }) => words)
    .filter(
      (words) =>
        completeCommands(`npx influencer-sync ${words}`, ' -c x', CONFIGURED) !==
        `npx influencer-sync ${words} -c x`,
    );
  expect(forgotten).toEqual([]);
});
