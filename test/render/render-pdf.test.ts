import { expect, it } from 'vitest';
import type { Block } from '../../src/render/block.ts';
import { renderBlocksPdf } from '../../src/render/render-pdf.ts';
import { pdfText } from '../support/pdf-text.ts';

const OPTIONS = { title: 'Statement of 2026-10', madeAt: new Date('2026-11-02T10:00:00Z') };

function tableOf(rows: readonly (readonly string[])[]): readonly Block[] {
  const columns = [
    { title: 'deal', cutAt: 'never' },
    { title: 'influencer' },
    { title: 'nothing' },
    { title: 'to pay', align: 'right' },
  ] as const;
  return [{ kind: 'section', title: 'To pay', note: '10.00 EUR', parts: [{ kind: 'table', columns, rows }] }];
}

it('a PDF contains the title, texts and tables of its blocks, but no commands', async () => {
  const blocks: readonly Block[] = [
    { kind: 'text', text: 'It may still change.' },
    ...tableOf([['D1', 'zoë – 10 €', '', '-10.00 EUR']]),
    { kind: 'text', text: 'To freeze it:', commands: { lines: ['npx influencer-sync statement close'] } },
  ];
  expect(pdfText(await renderBlocksPdf(blocks, OPTIONS))).toEqual([
    'Statement of 2026-10 – 1',
    'Statement of 2026-10',
    'It may still change.',
    'To pay: 10.00 EUR',
    // The column without a value is left out.
    ...['deal', 'influencer', 'to pay', 'D1', 'zoë – 10 €', '-10.00 EUR'],
  ]);
});

it('the same blocks yield identical bytes', async () => {
  const blocks = tableOf([['D1', 'mia', '', '10.00 EUR']]);
  const [one, other] = [await renderBlocksPdf(blocks, OPTIONS), await renderBlocksPdf(blocks, OPTIONS)];
  expect(one.equals(other)).toBe(true);
  expect(one.toString('latin1')).toContain('(D:20261102100000Z)');
});

it('a character that the font lacks becomes a question mark, and a note explains it', async () => {
  const text = pdfText(await renderBlocksPdf(tableOf([['D1', 'みあ🌸\u202e', '', '10.00 EUR']]), OPTIONS));
  expect(text).toContain('????');
  expect(text.join(' ')).toContain('characters that this document cannot show');
  const plain = pdfText(await renderBlocksPdf(tableOf([['D1', 'mia', '', '10.00 EUR']]), OPTIONS));
  expect(plain.join(' ')).not.toContain('cannot show');
});

it('a long table continues over pages, repeats its header on each and loses no row', async () => {
  const rows = Array.from({ length: 200 }, (_, index) => [`D${index}`, 'mia', '', `${index}.00 EUR`]);
  const text = pdfText(await renderBlocksPdf(tableOf(rows), OPTIONS));
  expect(text.filter((piece) => piece.endsWith(' EUR')).length).toBe(201);
  const pages = text.filter((piece) => piece.includes('Statement of 2026-10 – ')).length;
  expect(pages).toBeGreaterThan(3);
  expect(text.filter((piece) => piece === 'to pay').length).toBe(pages);
});

it('a table that is too wide wraps names, and shows them and its amounts whole', async () => {
  const text = pdfText(
    await renderBlocksPdf(tableOf([['D1', 'm'.repeat(400), '', '123456789012.3400 EUR']]), OPTIONS),
  );
  expect(text).toContain('123456789012.3400 EUR');
  expect(text.filter((piece) => /^m+$/.test(piece)).join('')).toBe('m'.repeat(400));
});
