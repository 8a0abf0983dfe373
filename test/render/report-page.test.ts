import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import { describe, expect, it } from 'vitest';
import { type Block, column } from '../../src/render/block.ts';
import { blocksMarkup, rowsMarkup } from '../../src/render/html/block-markup.ts';
import { html } from '../../src/render/html/html.ts';
import { renderReportPage } from '../../src/render/html/report-page.ts';
import type { ReportRenderer, RunSummary } from '../../src/render/report-renderer.ts';
import { openWorkshop } from '../runs/workshop.ts';

const HOSTILE = `"><script>alert(1)</script><img src=x onerror='x'>\u202e\u0007&lt;`;

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  // A page in a single file contains inline styles, and the width of a bar is part of its graphic.
  rules: { 'no-inline-style': 'off', 'long-title': 'off' },
});

async function problemsOf(page: string): Promise<readonly string[]> {
  const { results } = await validator.validateString(page);
  return results.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`));
}

/** Returns one block and one part of each kind, with the same text in every place that can hold text. */
function blocksWith(text: string): readonly Block[] {
  const columns = [{ title: text }, { title: 'credited', align: 'right' }] as const;
  return [
    { kind: 'text', text, tone: 'alarm', commands: { about: text, lines: [text] } },
    { kind: 'facts', facts: [[text, text]] },
    { kind: 'table', columns, rows: [[text, '1']] },
    {
      kind: 'counts',
      whole: '3 orders',
      meaning: text,
      lines: [[text, 3, { note: text, color: 'green' }]],
      count: 3,
      note: text,
    },
    {
      kind: 'section',
      title: text,
      count: 4,
      note: text,
      why: text,
      help: text,
      shown: 3,
      parts: [
        { kind: 'item', text, help: text },
        { kind: 'aside', text },
        { kind: 'facts', facts: [[text, text]] },
        { kind: 'dated', at: new Date(0), text, detail: text },
        { kind: 'fault', place: text, value: 'cell-of-a-file', source: text, reason: text, help: text },
        { kind: 'table', columns, rows: [[text, '1']] },
        {
          kind: 'bars',
          columns,
          rows: [
            { cells: [text, '10.00 EUR'], group: 'EUR', share: 1 },
            { cells: [text, '2.00 GBP'], group: 'GBP', share: 0.5 },
          ],
          total: 5,
          brief: 1,
        },
      ],
    },
  ];
}

function pageWith(text: string): string {
  const renderer: ReportRenderer = {
    did: () => '',
    tally: () => null,
    attention: () => [text],
    events: () => [],
    blocks: () => blocksWith(text),
  };
  const finished = {
    event: 'run_finished',
    job: text,
    kind: 'k',
    run_id: '1',
    status: 'issues',
    exit_code: 3,
    service: null,
    held_files: 0,
    check_warnings: 0,
    counts: {},
    amounts: [],
  } as const;
  const report = {
    kind: 'k',
    counts: {},
    amounts: [],
    details: {},
    sumsAddUp: true,
    doubts: 0,
    needsAttention: true,
  };
  const summary: RunSummary = { finished, report, problem: text };
  return renderReportPage([{ summary, renderer }], { title: text, madeAt: new Date(0) });
}

describe('a report page', () => {
  it('is valid HTML', async () => {
    expect(await problemsOf(pageWith('plain text'))).toEqual([]);
  });

  it('escapes text from files in every place', async () => {
    const page = pageWith(HOSTILE);
    for (const obeyed of ['<script', '<img', "onerror='", '\u202e', '\u0007'])
      expect(page).not.toContain(obeyed);
    expect(page).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    // The title of a column is an attribute of its cells, too.
    const tags = (text: string) =>
      text.match(/<[a-z/!][^>]*>/gi)?.map((tag) => tag.replace(/ data-title="[^"]*"/, ''));
    expect(tags(page)).toEqual(tags(pageWith('a word as long as plaintextplaintextplain')));
    expect(await problemsOf(page)).toEqual([]);
  });

  it('masks email addresses and omits cells of unreadable rows', () => {
    const page = pageWith('write to ann.lee@example.com');
    expect(page).toContain('write to a***@***');
    expect(page).not.toMatch(/ann\.lee|cell-of-a-file/);
  });

  it('loads and executes nothing, and its content security policy forbids both', () => {
    const page = pageWith('plain text');
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).not.toMatch(/<script|<link|<iframe|@import|url\(|\s(?:src|href|on\w+)=/i);
  });

  it('draws a bar for each amount beside its number, in a table for each currency', () => {
    const page = pageWith('mara');
    expect([...page.matchAll(/<caption>(.*?)<\/caption>/g)].map(([, caption]) => caption)).toEqual([
      'In EUR',
      'In GBP',
    ]);
    expect([...page.matchAll(/<rect width="([\d.]+)"/g)].map(([, width]) => width)).toEqual(['240', '120']);
  });
});

describe('a table', () => {
  it('has no column that is empty in every row, and renders each cell once', () => {
    const rendered: string[] = [];
    const cell = (name: string, of: (row: string) => string | null) => (row: string) => {
      rendered.push(`${name} ${row}`);
      return of(row);
    };
    const markup = rowsMarkup(
      ['a', 'b'],
      [
        column(
          'Order',
          cell('order', (row) => row),
        ),
        column(
          'Refunded',
          cell('refunded', () => null),
        ),
        column(
          'Note',
          cell('note', (row) => (row === 'b' ? 'late' : '')),
        ),
      ],
    ).toString();
    expect(markup).toContain('<th scope="col">Order</th><th scope="col">Note</th>');
    expect(markup).not.toContain('Refunded');
    expect(rendered.toSorted()).toEqual([
      'note a',
      'note b',
      'order a',
      'order b',
      'refunded a',
      'refunded b',
    ]);
  });

  it('of a report has no such column either', () => {
    const columns = [{ title: 'order' }, { title: 'refunded' }];
    const page = blocksMarkup([{ kind: 'table', columns, rows: [['1', '']] }]).toString();
    expect(page).toContain('Order');
    expect(page).not.toContain('Refunded');
  });
});

describe('the HTML template function', () => {
  it('escapes values, but not the markup it has produced itself', () => {
    const cell = html`<td title="${'a"b'}">${'<b>'}</td>`;
    expect(html`<tr>${[cell, null, undefined, 7]}</tr>`.toString()).toBe(
      '<tr><td title="a&quot;b">&lt;b&gt;</td>7</tr>',
    );
  });
});

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

describe('run --report', () => {
  it('writes who earned what, what was rejected and why, and which codes have no owner', {
    timeout: 120_000,
  }, async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop(
      'orders.csv',
      `order_id,placed_at,currency,order_revenue,discount_codes,status
1,2026-04-01T10:00:00Z,EUR,100.00,MIA10,paid
2,2026-04-01T10:00:00Z,EUR,25.50,<b>SPRING</b>,paid
3,2026-04-01T10:00:00Z,EUR,secret-cell,MIA10,paid
`,
    );
    const file = join(shop.folder, 'report.html');
    const result = await shop.cli('run', 'orders', '--report', file);
    const page = readFileSync(file, 'utf8');
    expect(await problemsOf(page)).toEqual([]);
    expect(page, result.stderr).toMatch(/<th scope="row">mia.test<\/th><td class="number"[^>]*>1<\/td>/i);
    expect(page).toContain('100.00 EUR');
    expect(page).toContain('&lt;b&gt;SPRING&lt;/b&gt;');
    expect(page).toContain('orders.csv line 4');
    expect(page).not.toContain('secret-cell');
  });

  it('rejects an unwritable path before it reads or sends anything', { timeout: 60_000 }, async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const result = await shop.cli('run', 'orders', '--report', join(shop.folder, 'missing', 'report.html'));
    expect(result).toMatchObject({ exitCode: 2 });
    expect(result.stderr).toContain('The report cannot be written there.');
    expect(await shop.db.selectFrom('ops.runs').select('run_id').execute()).toEqual([]);
  });
});
