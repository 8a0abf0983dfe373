import { shellWord } from '../../core/text/printable.ts';

/** How a command names its configuration. */
export type NamedConfig = { readonly config?: string; readonly envFile?: string };

/** A command with its second word, if it has one. Wrapped text may break it at any blank. */
const COMMAND = /^npx\s+influencer-sync\s+([a-z-]+)(?![\w-])(?:\s+([a-z-]+)(?![\w-]))?/;

/** A command that names its configuration: right behind its name, or later in its line. */
const NAMES_CONFIGURATION = /^\s+--(?:config|env-file)\s|^[^\n]*\s--config\s/;

/**
 * Adds the option that names the configuration to the commands in a text, so that a person can copy them for
 * the same deployment. A command that names one stays as it is.
 *
 * @param option the result of `configOption`.
 * @param commands the names of those that read a configuration: `review`, `files reread`.
 */
export function completeCommands(text: string, option: string, commands: ReadonlySet<string>): string {
  if (option === '') return text;
  return text
    .split(/(?=npx\s+influencer-sync\s)/)
    .map((part) => {
      const [both = '', first = '', second] = COMMAND.exec(part) ?? [];
      const named = commands.has(`${first} ${second}`)
        ? both
        : commands.has(first)
          ? both.slice(0, both.indexOf(first) + first.length)
          : null;
      if (named === null) return part;
      const rest = part.slice(named.length);
      return NAMES_CONFIGURATION.test(rest) ? part : `${named}${option}${rest}`;
    })
    .join('');
}

/**
 * The options that name the configuration of a command as a person types them, with a leading blank. Empty for one that
 * the next command finds by itself, too.
 */
export function configOption({ config, envFile }: NamedConfig): string {
  return [
    config === undefined ? '' : ` --config ${shellWord(config)}`,
    envFile === undefined ? '' : ` --env-file ${shellWord(envFile)}`,
  ].join('');
}
