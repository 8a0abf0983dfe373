import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectGuarantees, setScene } from './crash.ts';

/** Removes lines of the journal that a killed process has left, in place: its file stays the same. */
function cutJournal(folder: string, keep: (lines: readonly string[]) => readonly string[]): void {
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.open.ndjson'));
  const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
  expect(lines.filter((line) => line.startsWith('{"writing"')).length).toBeGreaterThan(1);
  writeFileSync(join(folder, name), `${keep(lines).join('\n')}\n`);
}

const isClaim = (line: string): boolean => line.startsWith('{"claim"');

it.each<[string, (lines: readonly string[]) => readonly string[]]>([
  ['all its lines after the head', (lines) => lines.slice(0, 1)],
  ['its last claims', (lines) => lines.slice(0, lines.findIndex(isClaim) + 1)],
  ['only what it wrote about requests', (lines) => lines.filter((line, at) => at === 0 || isClaim(line))],
  ['a line in its midst', (lines) => lines.filter((_line, at) => at !== lines.length - 2)],
])(
  'a journal that lost %s while its machine went on does not prove that a request never started',
  async (_what, keep) => {
    const scene = await setScene(6);
    const killed = await scene.startPosting({ dieAt: 'answer_read', dieOnEntry: 2 });
    expect(await killed.ended).toBe('SIGKILL');
    cutJournal(join(scene.folder, 'journal'), keep);
    await scene.continuePosting();
    const comparison = await scene.compareWithSandbox();
    expectGuarantees(comparison, 6);
    expect(comparison.doubts - comparison.falseDoubts).toBeGreaterThan(0);
  },
  60_000,
);
