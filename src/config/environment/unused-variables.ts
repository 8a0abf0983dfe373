import { shortPath } from '../locate.ts';
import type { PipelineConfig } from '../schema.ts';
import { type Environment, waysToSet } from './read-variable.ts';

/**
 * A setting that has a different effect than its author expects. The texts contain no values, which may be
 * secrets.
 */
export type Misled = { readonly message: string; readonly help: string };

/**
 * Variables of .env.example that have an effect only through the configuration, each with the line that uses
 * it.
 */
const USES: Readonly<Record<string, string>> = {
  INFLUENCER_API_URL: 'api: { url: "$INFLUENCER_API_URL" }',
  INFLUENCER_API_KEY: 'api: { key: "$INFLUENCER_API_KEY" }',
  DATABASE_URL: 'database: { url: "$DATABASE_URL" }',
  BI_DATABASE_URL: 'database: { bi_url: "$BI_DATABASE_URL" }',
  CUSTOMER_HASH_KEY: 'customers: { hash_key: "$CUSTOMER_HASH_KEY" }',
  INFLUENCER_WEBHOOK_SECRET: 'webhooks: { secret: "$INFLUENCER_WEBHOOK_SECRET" }',
};

/**
 * Finds variables that are set but do not appear in the configuration, so that they have no effect.
 *
 * @param only the variables to look for; null for all.
 */
export function findUnusedVariables(
  { path, variables }: Pick<PipelineConfig, 'path' | 'variables'>,
  env: Environment,
  only: readonly string[] | null = null,
): readonly Misled[] {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  return Object.entries(USES)
    .filter(([name]) => !variables.includes(name) && (only?.includes(name) ?? true))
    .flatMap(([name, use]) =>
      waysToSet(name)
        .filter(isSet)
        .map((set) => ({ name, use, set })),
    )
    .map(({ name, use, set }) => ({
      message: `${set} is set, but has no effect, because ${shortPath(path)} does not name ${set === name ? 'it' : name}.`,
      help: `To use it, write in this file:\n  ${use.replace(`$${name}`, `\${${name}:-}`)}\nOtherwise unset it.`,
    }));
}
