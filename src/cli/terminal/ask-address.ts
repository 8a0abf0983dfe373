import { createInterface } from 'node:readline/promises';
import { usageError } from '../usage-error.ts';

/** An address has 254 characters at most (RFC 5321). */
const MAX_INPUT_BYTES = 4_096;

/**
 * The e-mail address that a command is about, without it being an argument, which a shell keeps in its history and every user of the machine
 * sees in the list of processes: asked for at a terminal, else the first line of standard input.
 *
 * @param command that reads it, for the message: `explain customer`.
 * @throws KnownError `usage` (exit 2) where standard input has none.
 */
export async function askAddress(command: string, stdin: NodeJS.ReadStream = process.stdin): Promise<string> {
  if (stdin.isTTY) {
    const question = createInterface({ input: stdin, output: process.stderr, historySize: 0 });
    return question.question('E-mail address: ').finally(() => question.close());
  }
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += String(chunk);
    if (text.includes('\n') || text.length > MAX_INPUT_BYTES) break;
  }
  const [line = ''] = text.split(/\r?\n/);
  if (line.trim() !== '') return line;
  throw usageError(
    'No address was given.',
    `Write it to standard input:  printf '%s' "$ADDRESS" | npx influencer-sync ${command}`,
  );
}
