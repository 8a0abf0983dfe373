/** Commands that read a configuration, with their second word if they have one. */
const COMMAND =
  /npx influencer-sync (?:backfill (?:status|pause|resume|cancel)|files (?:release|reread)|checks (?:acknowledge|expect-date)|jobs (?:pause|resume|run-now)|notify (?:test|history)|ledger (?:recover|seeds?|unseed)|hash-key(?: (?:retire|lost))?|explain(?: (?:order|customer))?|codes check|config show|layouts(?: test)?|statement(?: (?:close|verify))?|leaks(?: acknowledge)?|returns(?: customers)?|webhooks (?:register|list|delete)|(?:backfill|checks|conflicts|console|doctor|files|forget|init|jobs|migrate|plan|prune|query|reconcile|rejected|review|runs?|serve|status|webhooks|work))(?![\w-])/g;

/**
 * Adds the option that names the configuration to the commands in a text, so that a person can copy them for
 * the same deployment.
 *
 * @param option the result of `configOption`.
 */
export function completeCommands(text: string, option: string): string {
  return text.replace(COMMAND, (command) => `${command}${option}`);
}
