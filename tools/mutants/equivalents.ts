import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Mutant } from './list-mutants.ts';

/** A fault that changes nothing that a test could notice. */
const Equivalent = z.strictObject({
  file: z.string(),
  /** The text of its line, without the blanks around it: lines move. */
  line: z.string(),
  change: z.string(),
  reason: z.string().min(10),
});
export type Equivalent = z.infer<typeof Equivalent>;

/**
 * Reads `equivalents.yaml`, and finds the faults that it names.
 *
 * @param files those whose faults were listed.
 * @returns also the entries about these files that name no fault any more.
 */
export function readEquivalents(
  root: string,
  mutants: readonly Mutant[],
  files: readonly string[],
): { readonly accepted: ReadonlySet<Mutant>; readonly outdated: readonly Equivalent[] } {
  const text = readFileSync(join(root, 'tools/mutants/equivalents.yaml'), 'utf8');
  const listed = z.array(Equivalent).parse(parse(text));
  const lines = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n')]));
  // How a statement is sent is no part of it.
  const withoutCall = (line: string | undefined) => line?.trim().replace(/`(?:\.execute\(.*|[);,]*)$/, '');
  const isNamed = (mutant: Mutant, { file, line, change }: Equivalent) =>
    mutant.file === file &&
    mutant.change === change &&
    withoutCall(lines.get(file)?.[mutant.line - 1]) === withoutCall(line);
  const accepted = new Set<Mutant>();
  const outdated: Equivalent[] = [];
  for (const entry of listed.filter(({ file }) => lines.has(file))) {
    const named = mutants.filter((mutant) => isNamed(mutant, entry));
    if (named.length === 0) outdated.push(entry);
    for (const mutant of named) accepted.add(mutant);
  }
  return { accepted, outdated };
}
