import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';

/** The words after `api`, parsed. */
export type ApiWords = {
  readonly operation: string | null;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** File with the body, or `-` for standard input; null if not given. */
  readonly bodyFile: string | null;
  readonly config?: string;
  readonly envFile?: string;
  readonly isLive: boolean;
  /** Show the request instead of sending it. */
  readonly isDryRun: boolean;
  readonly isHelp: boolean;
};

/** Options without a value. All others take one. */
const SWITCHES = ['json', 'live', 'dry_run', 'help'];

/**
 * Parses `<operation> --field value …`. Any unknown option is a field, so that fields that the specification
 * does not show can be sent too. `--deal-id` and `--deal_id` are the same.
 *
 * @throws KnownError `usage` (exit 2).
 */
export function readApiWords(words: readonly string[]): ApiWords {
  const fields: Record<string, string[]> = {};
  const switches = new Set<string>();
  const plain: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const match = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(LONG[word] ?? word);
    const name = match?.[1]?.replaceAll('-', '_');
    if (name === undefined) plain.push(word);
    else if (SWITCHES.includes(name)) switches.add(name);
    else {
      const value = match?.[2] ?? words[index + 1];
      if (value === undefined) throw usage(`${word} needs a value.`);
      if (match?.[2] === undefined) index += 1;
      fields[name] = [...(fields[name] ?? []), value];
    }
  }
  const [operation = null, extra] = plain;
  // The message does not repeat the value: it may be a misplaced secret that other people must not see.
  if (extra !== undefined) throw usage('There is a value without an option.');
  const { body, config, env_file: envFile, ...rest } = fields;
  return {
    operation,
    fields: rest,
    bodyFile: body?.at(-1) ?? null,
    ...(config === undefined ? {} : { config: config.at(-1) ?? '' }),
    ...(envFile === undefined ? {} : { envFile: envFile.at(-1) ?? '' }),
    isLive: switches.has('live'),
    isDryRun: switches.has('dry_run'),
    isHelp: switches.has('help'),
  };
}

const LONG: Readonly<Record<string, string>> = { '-c': '--config', '-h': '--help' };

function usage(message: string): KnownError {
  return new KnownError({
    code: 'usage',
    message,
    help: 'Write each field as --name value, in quotes if the value has blanks:  npx influencer-sync api <operation> --help',
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}
