import { shellWord } from '../../core/text/printable.ts';
import type { ConfigOptions } from '../command.ts';

/**
 * Commands that read a configuration, with their second word if they have one. Wrapped text may break a command
 * at any blank.
 */
const COMMAND =
  /^npx\s+influencer-sync\s+(?:backfill\s+(?:status|pause|resume|cancel)|files\s+(?:release|reread)|checks\s+(?:acknowledge|expect-date)|jobs\s+(?:pause|resume|run-now)|notify\s+(?:test|history)|ledger\s+(?:move|recover|seeds?|unseed)|hash-key(?:\s+(?:retire|lost))?|explain(?:\s+(?:order|customer))?|codes\s+check|config\s+show|layouts(?:\s+test)?|statement(?:\s+(?:close|verify))?|leaks(?:\s+acknowledge)?|returns(?:\s+customers)?|webhooks\s+(?:register|list|delete)|(?:backfill|checks|conflicts|console|doctor|files|forget|init|jobs|migrate|plan|prune|query|reconcile|rejected|review|runs?|serve|status|webhooks|work))(?![\w-])/;

/** A command that names its configuration: right behind its name, or later in its line. */
const NAMES_CONFIGURATION = /^\s+--(?:config|env-file)\s|^[^\n]*\s--config\s/;

/**
 * Adds the option that names the configuration to the commands in a text, so that a person can copy them for
 * the same deployment. A command that names one stays as it is.
 *
 * @param option the result of `configOption`.
 */
export function completeCommands(text: string, option: string): string {
  if (option === '') return text;
  return text
    .split(/(?=npx\s+influencer-sync\s)/)
    .map((part) => {
      const command = COMMAND.exec(part)?.[0];
      if (command === undefined) return part;
      const rest = part.slice(command.length);
      return NAMES_CONFIGURATION.test(rest) ? part : `${command}${option}${rest}`;
    })
    .join('');
}

/**
 * The options that name the configuration of a command as a person types them, with a leading blank. Empty for one that
 * the next command finds by itself, too.
 */
export function configOption({ config, envFile }: ConfigOptions): string {
  return [
    config === undefined ? '' : ` --config ${shellWord(config)}`,
    envFile === undefined ? '' : ` --env-file ${shellWord(envFile)}`,
  ].join('');
}
