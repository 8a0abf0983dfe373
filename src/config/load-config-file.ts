import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { configurationError, type KnownError, type Problem } from '../core/known-error.ts';
import type { StoredVariables } from '../core/variable.ts';
import type { ConfiguredKind } from './configured-kind.ts';
import { crossCheck } from './cross-check.ts';
import type { Environment } from './environment/read-variable.ts';
import { explainIssue } from './explain-issue.ts';
import { type KnownKeys, knownKeysOf } from './known-keys.ts';
import { type ConfigPath, type Positions, shortPath } from './locate.ts';
import { readYaml } from './read-yaml.ts';
import { isSection, parseSalvaging } from './salvage.ts';
import { type PipelineConfig, pipelineSchemaOf, toConfig } from './schema.ts';
import { addServiceFile, findSetTwice } from './service-file.ts';

export type OnBrokenFiles = (error: KnownError) => void;

/**
 * Reads `pipeline.yaml`: substitutes environment variables, checks everything, applies defaults and makes
 * paths absolute.
 *
 * @param options.stored the values that AWS returned for the variables that {@link findVariables} finds.
 * @param options.kinds the kinds of jobs.
 * @param options.onBrokenFiles receives the error about mistakes in files that jobs name, such as codes.csv, for what
 *   only reads. Without it, the error is thrown.
 * @throws KnownError `config_missing` or `config_invalid` (exit 2), the latter with all problems at once,
 *   each with its place.
 */
export function loadConfigFile(options: {
  readonly path: string;
  readonly env: Environment;
  readonly stored: StoredVariables;
  readonly kinds: readonly ConfiguredKind[];
  readonly onBrokenFiles?: OnBrokenFiles | undefined;
}): PipelineConfig {
  const { path, kinds, onBrokenFiles } = options;
  const absolute = resolve(path);
  const file = shortPath(absolute);
  const yaml = readYaml(readConfigFile(absolute), { ...options, file });
  if (!yaml.isReadable) throw invalid(file, yaml.problems);

  const schema = pipelineSchemaOf(kinds);
  const { places } = yaml;
  const explained = { places, knownKeys: knownKeysOf(schema) };
  const misplaced = findMisplaced(yaml.content, explained);
  if (misplaced.length > 0) throw invalid(file, misplaced);

  const content = addServiceFile(yaml.content, absolute, options);
  const { data, issues } = parseSalvaging(content ?? {}, schema);
  const problems = [
    ...yaml.problems,
    ...findSetTwice(yaml.content, places),
    ...issues
      .filter((issue) => !yaml.unresolved.some((path) => startsWith(issue.path, path)))
      .flatMap((issue) => explainIssue(issue, explained)),
  ];
  const config =
    data === null ? null : toConfig(absolute, data, { variables: yaml.variables, env: options.env });
  const ofFiles: Problem[] = [];
  if (config !== null) {
    // One problem per place is enough: a value that is missing or does not fit is not also compared with
    // others.
    const told = new Set(problems.map((problem) => problem.where));
    const sourceNames = namesIn(yaml.content, 'sources');
    const findings = crossCheck(config, { places, sourceNames, kinds, written: data?.sources ?? {} });
    for (const { isOfFile = false, ...finding } of findings)
      if (!told.has(finding.where)) (isOfFile ? ofFiles : problems).push(finding);
    ofFiles.push(...checkFiles(config, kinds));
  }
  if (config === null || problems.length > 0) throw invalid(file, [...problems, ...ofFiles]);
  if (ofFiles.length === 0) return config;
  const broken = invalid(file, ofFiles);
  if (onBrokenFiles === undefined) throw broken;
  onBrokenFiles(broken);
  return config;
}

/**
 * Lists the variables in `pipeline.yaml` without substituting them. Empty if it is not YAML.
 *
 * @throws KnownError `config_missing` (exit 2).
 */
export function findVariables(path: string): readonly string[] {
  return readYaml(readConfigFile(resolve(path)), { file: '', env: {}, stored: new Map() }).variables;
}

/** Checks the files that jobs name, so that their problems are reported with those of the configuration. */
function checkFiles({ jobs }: PipelineConfig, kinds: readonly ConfiguredKind[]): readonly Problem[] {
  return kinds.flatMap(
    ({ kind, checkFiles: check }) => check?.(Object.values(jobs).filter((job) => job.kind === kind)) ?? [],
  );
}

function namesIn(content: unknown, section: string): readonly string[] {
  const value: unknown = isSection(content) ? content[section] : null;
  return isSection(value) ? Object.keys(value) : [];
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  // `codes.csv:2 valid_from`
  const files = new Set(problems.map(({ where }) => where.split(/:\d/, 1)[0] ?? ''));
  const [only = file] = files.size === 1 ? files : [];
  const title = files.size > 1 ? 'The configuration' : only;
  return configurationError({
    code: 'config_invalid',
    message: problems.length === 1 ? `${title} has a problem.` : `${title} has ${problems.length} problems.`,
    help: `Fix ${files.size > 1 ? 'the files named above' : only} and run the command again.`,
    safe: 'Nothing was read or sent.',
    problems: [...problems].sort(byPlace),
  });
}

function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw configurationError({
      code: 'config_missing',
      message: isMissing ? 'There is no configuration file.' : 'The configuration file cannot be read.',
      where: shortPath(path),
      help: isMissing
        ? `Check what --config or INFLUENCER_SYNC_CONFIG names, or write one for your exports:  npx influencer-sync init ./exports\nFor a trial without a configuration:  npx influencer-sync demo`
        : 'Check that it is a file and that this user may read it.',
      safe: 'Nothing was read or sent.',
      cause,
    });
  }
}

function startsWith(path: ConfigPath, start: ConfigPath): boolean {
  return start.every((part, index) => String(path[index]) === String(part));
}

function byPlace(one: Problem, other: Problem): number {
  return one.where.localeCompare(other.where, 'en', { numeric: true });
}

type IndentedFile = { readonly places: Positions; readonly knownKeys: KnownKeys };

/** Sections whose entries have names that the file's author chooses. */
const OF_NAMES = ['sources', 'jobs'];

/**
 * Finds settings that are one level too deep or not deep enough because their line is indented wrongly. Such
 * a file is valid YAML with another meaning. They are reported separately, because each would otherwise cause
 * many problems: missing settings in one place and unknown ones in another.
 */
function findMisplaced(content: unknown, file: IndentedFile): readonly Problem[] {
  if (!isSection(content)) return [];
  const named = OF_NAMES.flatMap((section) => notDeepEnough(content[section], [section], file));
  return [...tooDeep(content, file), ...notDeepEnough(content, [], file), ...named];
}

/**
 * Finds sections indented like an entry, such as `jobs:` below `sources:`. (A job may have the name of a
 * section.)
 */
function tooDeep(
  content: Readonly<Record<string, unknown>>,
  { places, knownKeys }: IndentedFile,
): readonly Problem[] {
  const countKnown = (value: unknown, path: ConfigPath): number => {
    const known = knownKeys(path, kindOf(value));
    return isSection(value) ? Object.keys(value).filter((key) => known.includes(key)).length : 0;
  };
  const sections = knownKeys([]);
  return Object.entries(content).flatMap(([section, entries]) =>
    Object.entries(isSection(entries) ? entries : {})
      .filter(
        ([name, value]) =>
          sections.includes(name) && !(name in content) && (value === null || isSection(value)),
      )
      .filter(([name]) => !knownKeys([section]).includes(name))
      .filter(([name, value]) => countKnown(value, [section, name]) <= countKnown(value, [name]))
      .map(([name]) => ({
        where: places.whereKey([section, name]),
        message: `"${name}" is indented, so YAML reads it as a part of ${section}.`,
        help: `Start the line with "${name}:", without blanks before it.`,
      })),
  );
}

/**
 * Finds settings of the preceding section that are indented less than its other settings, or as far as the
 * section itself.
 */
function notDeepEnough(content: unknown, path: ConfigPath, file: IndentedFile): readonly Problem[] {
  const { places, knownKeys } = file;
  if (!isSection(content)) return [];
  const entries = Object.entries(content);
  return entries.flatMap(([name, value], index) => {
    const [before, valueBefore] = entries[index - 1] ?? [];
    if (before === undefined || fits(value, [...path, name], knownKeys)) return [];
    if (valueBefore !== null && !isSection(valueBefore)) return [];
    const entry = { name, value, kind: kindOf(valueBefore) };
    if (!accepts([...path, before], entry, knownKeys)) return [];
    const parent = [...path, before].map(String).join('.');
    return [
      {
        where: places.whereKey([...path, name]),
        message: `"${name}" is indented as far as "${before}", so YAML does not read it as a part of ${parent}.`,
        help: `Indent it further than "${before}".`,
      },
    ];
  });
}

/** @returns true if a value of this shape is valid at the path. */
function fits(value: unknown, path: ConfigPath, knownKeys: KnownKeys): boolean {
  return path.length === 1 ? knownKeys([]).includes(String(path[0])) : value === null || isSection(value);
}

type Entry = { readonly name: string; readonly value: unknown; readonly kind: string | undefined };

/** @returns true if the section at the path may contain the entry. */
function accepts(path: ConfigPath, { name, value, kind }: Entry, knownKeys: KnownKeys): boolean {
  const isOfNames = path.length === 1 && OF_NAMES.includes(String(path[0]));
  if (!isOfNames) return knownKeys(path, kind).includes(name);
  const known = knownKeys([...path, name], kindOf(value));
  return isSection(value) && Object.keys(value).some((key) => known.includes(key));
}

function kindOf(section: unknown): string | undefined {
  return isSection(section) && typeof section.kind === 'string' ? section.kind : undefined;
}
