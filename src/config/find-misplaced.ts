import type { Problem } from '../core/known-error.ts';
import type { KnownKeys } from './known-keys.ts';
import type { ConfigPath, Positions } from './locate.ts';
import { isSection } from './salvage.ts';

type IndentedFile = { readonly places: Positions; readonly knownKeys: KnownKeys };

/** Sections whose entries have names that the file's author chooses. */
const OF_NAMES = ['sources', 'jobs'];

/**
 * Finds settings that are one level too deep or not deep enough because their line is indented wrongly. Such
 * a file is valid YAML with another meaning. They are reported separately, because each would otherwise cause
 * many problems: missing settings in one place and unknown ones in another.
 */
export function findMisplaced(content: unknown, file: IndentedFile): readonly Problem[] {
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
