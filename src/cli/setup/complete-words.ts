import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { parse } from 'yaml';
import { NAME } from '../../config/fields.ts';
import { layoutNames } from '../../config/layout-folders.ts';
import { packageFile } from '../../core/package.ts';
import { findConfig } from '../open/find-config.ts';
import type { Output } from '../terminal/output.ts';

/** Prints the completion script of a shell: `bash`, `zsh` or `fish`. */
export async function printScript(output: Output, shell: string): Promise<void> {
  output.write(readFileSync(packageFile(`src/cli/setup/completion/influencer-sync.${shell}`)));
}

/**
 * Prints the possible completions of the last word, one per line, or nothing if it can be anything. Only the names of
 * jobs, sources and channels are read from the configuration, so that completion works with an invalid one too.
 *
 * @param self the running command, from which the other commands are found.
 */
export async function completeWords(output: Output, words: readonly string[], self: Command): Promise<void> {
  const partial = words.at(-1) ?? '';
  const found = candidatesFor(words.slice(0, -1), partial, self.parent ?? self).filter((word) =>
    word.startsWith(partial),
  );
  if (found.length > 0) output.write(Buffer.from(`${[...new Set(found)].join('\n')}\n`));
}

function candidatesFor(before: readonly string[], partial: string, program: Command): readonly string[] {
  let command = program;
  let position = 0;
  let open: Option | null = null;
  let config: string | null = null;
  for (const word of before) {
    if (open !== null) {
      if (open.long === '--config') config = word;
      open = null;
    } else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      open = option !== undefined && (option.required || option.optional) ? option : null;
    } else {
      const child = command.commands.find((one) => one.name() === word);
      if (child === undefined) position += 1;
      else [command, position] = [child, 0];
    }
  }
  if (open !== null) return valuesOf(open, config);
  if (partial.startsWith('-'))
    return [...command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []), '--help'];
  const argument = command.registeredArguments[position];
  return [
    ...(position === 0 ? visible(command).map((child) => child.name()) : []),
    ...(argument?.argChoices ?? []),
    ...(argument?.name() === 'job' ? namesIn(['jobs'], config) : []),
    ...(argument?.name() === 'channel' ? namesIn(['notify', 'channels'], config) : []),
  ];
}

function visible(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function valuesOf(option: Option, config: string | null): readonly string[] {
  if (option.argChoices !== undefined) return option.argChoices;
  if (option.long === '--source') return namesIn(['sources'], config);
  if (option.long === '--layout')
    return layoutNames(resolve(configPath(config) ?? 'pipeline.yaml')).filter((name) => NAME.test(name));
  if (option.long === '--job') return namesIn(['jobs'], config);
  return [];
}

function configPath(named: string | null): string | null {
  return findConfig(named ?? undefined).path;
}

/** The names in the section at a path. Keys that a person would not type are left out. */
function namesIn(path: readonly string[], config: string | null): readonly string[] {
  const file = configPath(config);
  if (file === null || !existsSync(file)) return [];
  try {
    const content: unknown = parse(readFileSync(file, 'utf8'));
    const named = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : null), content);
    return isRecord(named) ? Object.keys(named).filter((name) => NAME.test(name)) : [];
  } catch {
    return []; // An unreadable file offers no completions.
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
