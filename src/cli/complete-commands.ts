/** Commands that read a configuration, with their second word where they have one. */
const COMMAND =
  /npx influencer-sync (?:backfill (?:status|pause|resume|cancel)|files (?:release|reread)|checks (?:acknowledge|expect-date)|jobs (?:pause|resume|run-now)|notify (?:test|history)|ledger (?:recover|seeds?|unseed)|hash-key(?: (?:retire|lost))?|explain(?: (?:order|customer))?|codes check|config show|layouts(?: test)?|statement(?: (?:close|verify))?|leaks(?: acknowledge)?|webhooks (?:register|list|delete)|(?:backfill|checks|conflicts|console|doctor|files|forget|init|jobs|migrate|plan|prune|query|reconcile|rejected|returns|review|runs?|serve|status|webhooks|work))(?![\w-])/g;

/**
 * Names the configuration in the commands that a text advises, so that they are about the same deployment as the one that says it: a person
 * copies them as they are.
 *
 * @param option of `configOption`.
 */
export function completeCommands(text: string, option: string): string {
  return text.replace(COMMAND, (command) => `${command}${option}`);
}
