import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { SourceFile } from '../../../src/core/source.ts';
import { openFile } from '../../../src/intake/decode/open-file.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import { openEarly } from '../../../src/intake/read/open-records.ts';
import { listFiles } from '../../../src/store/list-files.ts';
import { openSourceClients } from '../../../src/store/source-clients.ts';
import { collectAll, holdReason, sourceSettings } from '../../store/source-settings.ts';
import { waitFor } from '../../support/wait-for.ts';

const TEXT = 'order_id,order_revenue,currency\n1,10.00,EUR\n2,11.00,EUR\n';

/** Opens a file of a folder before its turn, and counts the bytes that leave the disk. */
async function openOne({
  isEarly = true,
  change,
}: {
  isEarly?: boolean;
  change?: (path: string) => void;
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'exports-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'orders.csv');
  writeFileSync(path, TEXT);
  const source = sourceSettings(folder);
  const clients = openSourceClients();
  const [file] = await collectAll(listFiles(source, { clients }));
  if (file === undefined) throw new Error('the file is not listed');
  change?.(path);
  let isAtEnd = false;
  async function* open(opened: SourceFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield* openFile(opened, { source, clients, signal });
    } finally {
      isAtEnd = true;
    }
  }
  const records = openEarly(file, loadLayout('generic'), { source, clients, open, isEarly });
  return { records, isAtEnd: () => isAtEnd };
}

it('a small file is read to its end before its turn, and its bytes are told in its turn', async () => {
  const { records, isAtEnd } = await openOne();
  await waitFor(isAtEnd);
  const told: number[] = [];
  records.tellBytes((count) => told.push(count));
  expect(told).toEqual([TEXT.length]);
  const chunks = await collectAll(records.records);
  expect(chunks.flatMap((chunk) => chunk.records).map(({ cells }) => cells[0])).toEqual(['1', '2']);
  expect(records.digest()).toMatch(/^[0-9a-f]{64}$/);
});

it('an error before the turn of a file is thrown in its turn', async () => {
  const { records, isAtEnd } = await openOne({
    change: (path) => writeFileSync(path, `${TEXT}3,1.00,EUR\n`),
  });
  await waitFor(isAtEnd);
  expect(await holdReason(collectAll(records.records))).toMatchObject({ code: 'changed_while_reading' });
});

it('a file whose turn never comes is closed', async () => {
  const { records, isAtEnd } = await openOne();
  await records.close();
  expect(isAtEnd()).toBe(true);
});

it('a large file is opened in its turn', async () => {
  const { records, isAtEnd } = await openOne({ isEarly: false });
  await records.close();
  expect(isAtEnd()).toBe(false);
});
