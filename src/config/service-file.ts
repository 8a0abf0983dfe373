import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { configurationError, type Problem } from '../core/known-error.ts';
import type { StoredVariables } from '../core/variable.ts';
import { type ServiceDescription, serviceSchema } from '../service/description/schema.ts';
import type { Environment } from './environment/read-variable.ts';
import { explainIssue } from './explain-issue.ts';
import { knownKeysOf } from './known-keys.ts';
import { type Positions, shortPath } from './locate.ts';
import { readYaml } from './read-yaml.ts';
import { isSection } from './salvage.ts';

/** The file with the description of a service: section `service`, as in pipeline.yaml. */
export const serviceFileSchema = z.strictObject({ service: serviceSchema });

const NAME = 'service.yaml';

type Variables = { readonly env: Environment; readonly stored: StoredVariables };

/**
 * Adds the description in `service.yaml` next to pipeline.yaml, if there is one, to the content of pipeline.yaml.
 * What pipeline.yaml says itself wins.
 *
 * @throws KnownError `config_invalid` (exit 2) if the file is not valid by itself.
 */
export function addServiceFile(content: unknown, pipelinePath: string, variables: Variables): unknown {
  const path = join(dirname(pipelinePath), NAME);
  if (!existsSync(path)) return content;
  const service = readContent(path, variables);
  return isSection(content) || content === null
    ? { ...content, service: merge(service, content?.service) }
    : content;
}

/**
 * Reads the description of a service from a file of its own.
 *
 * @throws KnownError `config_missing`, `config_invalid` (exit 2).
 */
export function readServiceFile(path: string, variables: Variables): ServiceDescription {
  return serviceSchema.parse(readContent(resolve(path), variables));
}

function readContent(path: string, variables: Variables): unknown {
  const file = shortPath(path);
  const yaml = readYaml(readText(path), { ...variables, file });
  const read = serviceFileSchema.safeParse(yaml.content ?? {});
  const explained = { places: yaml.places, knownKeys: knownKeysOf(serviceFileSchema) };
  const issues = yaml.isReadable && !read.success ? read.error.issues : [];
  const problems = [...yaml.problems, ...issues.flatMap((issue) => explainIssue(issue, explained))];
  if (problems.length === 0) return isSection(yaml.content) ? yaml.content.service : undefined;
  throw configurationError({
    code: 'config_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Fix the file and run the command again. docs/service.md lists what it may contain.',
    safe: 'Nothing was read or sent.',
    problems,
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw configurationError({
      code: 'config_missing',
      message: 'The file with the description of the service cannot be read.',
      where: shortPath(path),
      help: 'Name a file such as config/service.yaml, and check that this user may read it.',
      safe: 'Nothing was read or sent.',
      cause,
    });
  }
}

/** Sections are merged; anything else that is given replaces the whole value. */
function merge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isSection(base) || !isSection(over)) return over;
  const names = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...names].map((name) => [name, merge(base[name], over[name])]));
}

/** Settings that were elsewhere before they moved into section `service`: the old place and the new one. */
const MOVED: readonly (readonly [old: readonly [string, string], now: readonly string[]])[] = [
  [['api', 'duplicate_orders'], ['duplicate_orders']],
  [
    ['webhooks', 'header_prefix'],
    ['events', 'signature_header'],
  ],
  [
    ['webhooks', 'header_prefix'],
    ['events', 'timestamp_header'],
  ],
  [
    ['webhooks', 'encoding'],
    ['events', 'encoding'],
  ],
];

/** Finds the old place of a setting, for example `api.duplicate_orders`. Null if it had none. */
export function oldPlaceOf(path: readonly string[]): readonly string[] | null {
  return MOVED.find(([, now]) => ['service', ...now].join('.') === path.join('.'))?.[0] ?? null;
}

/** Finds settings that pipeline.yaml sets both in their old and in their new place. */
export function findSetTwice(content: unknown, places: Positions): readonly Problem[] {
  const at = (path: readonly string[]) =>
    path.reduce<unknown>((value, name) => (isSection(value) ? value[name] : undefined), content);
  return MOVED.filter(([old, now]) => at(old) !== undefined && at(['service', ...now]) !== undefined).map(
    ([old, now]) => ({
      where: places.where(old),
      message: `${old.join('.')} and service.${now.join('.')} set the same thing.`,
      help: `Remove ${old.join('.')}: its place is section service now.`,
    }),
  );
}
