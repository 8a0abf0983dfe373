import { expect, test } from 'vitest';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { holdReason, PARSE_OPTIONS, parseText } from './parse-text.ts';

test('a quote that is still open at the end of the file holds the file, and the message names its line', async () => {
  const reason = await holdReason(parseText('a,b\n1,2\n"3\nx",4\n5,"six\n7,8\n'));
  expect(reason.code).toBe('unclosed_quote');
  expect(reason.message).toContain('line 5');
});

test('the message names the line of the quote, not the first line of its record', async () => {
  const reason = await holdReason(parseText('a,b\n"one\ntwo","open ""three""\nfour\n'));
  expect(reason.message).toContain('line 3');
});

test('doubled quotes on later lines do not change the line that the message names', async () => {
  const reason = await holdReason(parseText('a,b\n"one","open\n""three""\nfour\n'));
  expect(reason.message).toContain('line 2');
});

test('an unclosed quote over 200 MB is detected in bounded memory', { timeout: 120_000 }, async () => {
  let produced = 0;
  const megabyte = Buffer.from('1,2\n'.repeat(256 * 1024));
  async function* text(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a,b\n1,"open\n');
    for (; produced < 210; produced += 1) yield megabyte;
  }
  async function drain(): Promise<void> {
    for await (const _ of parseCsv(text(), PARSE_OPTIONS));
  }
  const reason = await holdReason(drain());
  expect(reason).toMatchObject({ code: 'unclosed_quote' });
  expect(reason.message).toContain('line 2');
  // The file is held as soon as the record exceeds the limit, and the rest is never requested.
  expect(produced).toBeLessThan(5);
});

test('a record that exceeds the limit holds the file, regardless of the size of the pieces', async () => {
  for (const batchBytes of [10, 100, 10_000]) {
    const text = `a,b\n1,2\n3,${'x'.repeat(2_000)}\n5,6\n`;
    const reason = await holdReason(parseText(text, { maxRecordBytes: 1_000, batchBytes }));
    expect(reason).toMatchObject({ code: 'record_too_long' });
    expect(reason.message).toContain('line 3');
  }
});
