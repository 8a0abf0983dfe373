import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { FAULT_KINDS } from '../../src/sandbox/faults.ts';

const ROOT = new URL('../../', import.meta.url);

it('docs/sandbox.md lists every fault that can be injected and whether the request is processed', () => {
  const rows = read('docs/sandbox.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const said = new Map<string, boolean>();
  for (const row of rows) {
    const [, names = '', , processed = ''] = row.split('|');
    const answers = processed.trim().split(', ');
    for (const [index, [, name = '']] of [...names.matchAll(/`([^`]+)`/g)].entries())
      said.set(name, (answers[index] ?? answers[0]) === 'yes');
  }
  for (const [kind, isProcessed] of Object.entries(FAULT_KINDS))
    expect([kind, said.get(kind)]).toEqual([kind, isProcessed]);
});

it('docs/webhooks.md shows every setting of the receiver with its default', () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(read('docs/webhooks.md'))?.[1] ?? '';
  const { webhooks } = loadConfig(new URL('config/pipeline.yaml', ROOT).pathname, {});
  // How events are signed and written is a part of section `service`: docs/service.md.
  const { secrets: _secrets, events: _events, ...defaults } = webhooks;
  for (const [key, value] of Object.entries(defaults)) {
    const setting = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(yaml).toMatch(new RegExp(`^  ${setting}: ${String(value)}( |$)`, 'm'));
  }
});

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}
