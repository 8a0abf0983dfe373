import { createInterface } from 'node:readline/promises';
import { usageError } from '../usage-error.ts';

/** An e-mail address has at most 254 characters (RFC 5321). */
const MAX_INPUT_BYTES = 4_096;

/**
 * Reads the e-mail address that a command is about: asks for it at a terminal, else reads the first line of
 * standard input. It is not an argument, because shells keep arguments in their history and the process list
 * shows them to every user of the machine.
 *
 * @param command the command, for the error message: `explain customer`.
 * @throws KnownError `usage` (exit 2) if standard input contains none.
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

/**
 * Asks the person at the terminal to type a word, for what cannot be undone.
 *
 * @throws KnownError `usage` (exit 2) if there is no terminal.
 */
export async function confirmByWord(word: string, question = ''): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw usageError('This is not a terminal, so you cannot confirm.', 'To confirm, add --yes.');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await prompt
    .question(`${question}Type "${word}" to continue: `)
    .finally(() => prompt.close());
  return answer.trim().toLowerCase() === word;
}
