import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createOutput } from '../../src/cli/terminal/output.ts';
import { createBarProgress, createLineProgress } from '../../src/cli/terminal/progress.ts';
import { FileHeld } from '../../src/core/held/file-held.ts';
import { fileName } from '../../src/core/text/file-name.ts';
import { inShellQuotes, shellWord, toPrintable, toPrintableJson } from '../../src/core/text/printable.ts';
import { createLogger } from '../../src/monitoring/observe/logger.ts';
import { renderTable } from '../../src/render/table.ts';
import { plainTerminal } from '../support/plain-terminal.ts';

/**
 * Clears the screen, sets the title, starts a sequence without ESC, reverses the writing direction, and
 * returns to the beginning of the line.
 */
const HOSTILE = 'a\u001b[2J\u001b]0;x\u0007\u009b31m\u202egpj.exe\u2066\u200f\u0085\u2028\u0000\u007f\rb';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for these
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

type Sink = Writable & { isTTY?: boolean; columns?: number; text: string };

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

const problem = {
  code: 'bad',
  message: `The file ${HOSTILE}`,
  where: HOSTILE,
  help: HOSTILE,
  safe: HOSTILE,
  problems: [{ where: HOSTILE, message: HOSTILE, help: HOSTILE }],
  exitCode: 2,
} as const;

test('printed text never contains a character that a terminal interprets', () => {
  const [stdout, stderr] = [sink(), sink()];
  const output = createOutput({ stdout, stderr, json: false });
  output.print(HOSTILE);
  output.warn(HOSTILE);
  output.fail(problem);
  output.crash(new Error(HOSTILE));
  const progress = output.createProgress();
  progress.begin({ name: 'read', label: HOSTILE, unit: 'bytes', total: 10 });
  progress.note(HOSTILE);
  progress.end();
  for (const text of [stdout.text, stderr.text]) {
    expect(text).toContain('gpj.exe');
    expect(text).not.toMatch(OBEYED);
  }
});

test('progress lines, tables, file names, reasons of held files and log lines never contain one either', () => {
  const lines = sink();
  const progress = createLineProgress(lines);
  progress.begin({ name: 'read', label: HOSTILE, unit: 'bytes', total: 10 });
  progress.advance(10);
  progress.end();
  const bar = sink();
  const drawn = createBarProgress(bar, plainTerminal());
  drawn.begin({ name: 'read', label: HOSTILE, unit: 'bytes', total: 10 });
  drawn.end();
  const log = sink();
  createLogger({ level: 'info', isInteractive: false, stream: log }).info({ order_id: HOSTILE }, 'read');
  const held = new FileHeld({ code: 'x', message: `${HOSTILE}\nfake`, help: '' });
  const shown = [
    lines.text,
    renderTable([{ title: 'a' }], [[HOSTILE]], { terminal: plainTerminal() }),
    fileName(`s3://bucket/${HOSTILE}\nfake`),
    held.reason.message,
    log.text,
  ];
  for (const text of shown) expect(text).not.toMatch(OBEYED);
  // The bar itself moves the cursor.
  for (const obeyed of ['\u001b[2J', '\u009b', '\u202e']) expect(bar.text).not.toContain(obeyed);
  expect(held.message).not.toContain('\n');
  expect(fileName('s3://bucket/a\nb')).toBe('a b');
});

test('a terminal with colours gets the colours of this program and no other control sequence', () => {
  const styled = '\u001b[1mtitle\u001b[22m \u001b[31mred\u001b[39m';
  expect(toPrintable(styled, { isStyled: true })).toBe(styled);
  expect(toPrintable(`${styled}\u001b[8m\u001b[2K\u001b[1;31m`, { isStyled: true })).toBe(
    `${styled}?[8m?[2K?[1;31m`,
  );
  expect(toPrintable(styled)).not.toMatch(OBEYED);
  expect(toPrintable('one\r\ntwo\n\tthree\r')).toBe('one\r\ntwo\n\tthree?');
});

test('JSON output stays exact and is safe to print', () => {
  const [stdout, stderr] = [sink(), sink()];
  const output = createOutput({ stdout, stderr, json: true });
  output.emit({ event: 'x', name: HOSTILE });
  output.emitText(`{"event":"y","name":${JSON.stringify(HOSTILE)},"amount":1.2300}`);
  expect(stdout.text.replaceAll('\n', '')).not.toMatch(OBEYED);
  const [first = '', second = ''] = stdout.text.split('\n');
  expect(JSON.parse(first).name).toBe(HOSTILE);
  expect(JSON.parse(second).name).toBe(HOSTILE);
  expect(second).toContain('1.2300');
  expect(toPrintableJson('"ä😀"')).toBe('"ä😀"');
});

test('a text of a file is only a text in a command that a message suggests', () => {
  expect(shellWord('5601')).toBe('5601');
  expect(shellWord("#1'; rm -r ~")).toBe("'#1'\\''; rm -r ~'");
  expect(inShellQuotes('Unsubscribed via=unused')).toBe('"Unsubscribed via=unused"');
  expect(inShellQuotes('a "$(id)" `id` \\')).toBe('"a \\"\\$(id)\\" \\`id\\` \\\\"');
  expect(inShellQuotes('a\nb')).toBe('"a b"');
});
