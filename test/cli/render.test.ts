import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { renderOrders } from '../../jobs/attribute-orders/render.ts';
import type { OrderDetails, OrdersReport } from '../../jobs/attribute-orders/report.ts';
import { createOutput } from '../../src/cli/terminal/output.ts';
import { createEventProgress, createLineProgress } from '../../src/cli/terminal/progress.ts';
import type { RunFinished } from '../../src/core/run.ts';
import { wrap } from '../../src/core/text/wrap.ts';
import { item, section } from '../../src/render/block.ts';
import { renderCsv } from '../../src/render/csv.ts';
import { renderKnownError, renderUnknownError } from '../../src/render/error.ts';
import { renderBar, renderDone, renderLine } from '../../src/render/progress.ts';
import { describeOutcome, type RunSummary, renderRunSummary } from '../../src/render/report-renderer.ts';
import { renderTable } from '../../src/render/table.ts';
import type { Terminal } from '../../src/render/terminal.ts';
import { formatBytes, formatDuration } from '../../src/render/text.ts';
import { plainTerminal } from '../support/plain-terminal.ts';

const terminal = plainTerminal(80);

function renderSummary(summary: RunSummary<OrdersReport>, on: Terminal): string {
  return renderRunSummary(summary, { renderer: renderOrders, terminal: on });
}

function widestLine(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

test('of parts of a section with the same help, only the last one says it', () => {
  const [held] = section('Held', { parts: [item('a', 'x'), item('b', 'x'), item('c', 'y'), item('d', 'x')] });
  expect(held?.parts?.map((part) => 'help' in part && part.help)).toEqual([null, 'x', 'y', 'x']);
});

describe('tables', () => {
  test('align numbers to the right and cut a path at its front to fit', () => {
    const columns = [
      { title: 'file', cutAt: 'front' },
      { title: 'orders', align: 'right' },
      { title: 'note' },
    ] as const;
    const rows = [
      ['s3://acme-exports/orders/2026/04/orders-2026-04-01.csv', '1,204', 'x'.repeat(30)],
      ['b.csv', '7', 'a\nb\u001b[2J'],
    ];
    const lines = renderTable(columns, rows, { terminal: plainTerminal(60), indent: '  ' }).split('\n');
    expect(widestLine(lines.join('\n'))).toBeLessThanOrEqual(60);
    expect(lines[1]).toContain('…');
    expect(lines[1]).toContain('1,204');
    expect(lines[2]).toMatch(/b\.csv +7 {2}a b\?\[2J$/);
  });

  test('use the whole width of a wide terminal, and never cut a word: cells wrap, or the table becomes a list', () => {
    const columns = [{ title: 'order' }, { title: 'why' }, { title: 'code' }];
    const row = [
      'gid-5601000000101',
      'The customer was known before, and the code was not.',
      'SOMMER-2026-MIA',
    ];
    const wide = { ...plainTerminal(60), tableColumns: 100 };
    expect(renderTable(columns, [row], { terminal: wide })).not.toContain('…');
    const narrow = renderTable(columns, [row], { terminal: plainTerminal(60) });
    expect(narrow.split('\n').slice(1)).toEqual([
      'gid-5601000000101  The customer was known    SOMMER-2026-MIA',
      '                   before, and the code was',
      '                   not.',
    ]);
    const watched = { ...plainTerminal(22), isInteractive: true };
    const narrower = renderTable(columns, [row, row], { terminal: watched, indent: '  ' });
    expect(narrower.split('\n\n')).toHaveLength(2);
    expect(narrower.split('\n').slice(0, 3)).toEqual([
      '  order  gid-560100000',
      '         0101',
      '  why    The customer',
    ]);
    expect(widestLine(narrower)).toBeLessThanOrEqual(22);
    // Each Japanese letter takes two cells.
    const japanese = renderTable(columns.slice(0, 2), [['1', '夏休み 割引 コード SOMMER10']], {
      terminal: plainTerminal(23),
    });
    expect(japanese.split('\n').slice(1)).toEqual(['1      夏休み 割引', '       コード SOMMER10']);
  });
});

describe('text', () => {
  test('wraps at blanks, but never within commands or amounts', () => {
    const text = `You can fix it with 12.00 EUR and then run this:\n  npx influencer-sync run a-job-with-a-long-name --config x`;
    expect(wrap(text, { width: 30, indent: '  ' })).toBe(
      '  You can fix it with\n  12.00 EUR and then run this:\n    npx influencer-sync run a-job-with-a-long-name --config x',
    );
  });

  test.each([
    [3, '3 s'],
    [65, '1 min 5 s'],
    [3_599, '59 min'],
    [12_000, '3 h 20 min'],
    [500_000, '5 days'],
  ])('shows %d seconds as %s', (seconds, shown) => expect(formatDuration(seconds)).toBe(shown));

  test('shows bytes with a unit', () =>
    expect([0, 999, 1_500, 2_900_000_000].map(formatBytes)).toEqual(['0 B', '999 B', '1.5 kB', '2.9 GB']));
});

describe('errors', () => {
  const details = {
    code: 'config_invalid',
    message: 'config/pipeline.yaml has a problem.',
    help: 'Mend it.',
    safe: 'Nothing was sent.',
    exitCode: 2,
  } as const;

  test('of a known kind say what is wrong, where, why, how to fix it and what is safe', () => {
    const problems = [
      { where: 'config/pipeline.yaml:4:3', message: 'api has no setting "x".', help: 'Remove it.' },
    ];
    expect(
      renderKnownError({ ...details, problems }, terminal),
    ).toBe(`Error: config/pipeline.yaml has a problem.

  config/pipeline.yaml:4:3
    api has no setting "x".
    Remove it.

  Mend it.
  Nothing was sent.
`);
  });

  test('of an unknown kind show their stack and say that it is a bug', () => {
    const text = renderUnknownError(new TypeError('x is undefined'), terminal);
    expect(text).toMatch(/^Error: TypeError: x is undefined\n +at /);
    expect(text).toContain('This is a bug');
  });

  test('of an unknown kind hide values quoted from a row', () => {
    const error = Object.assign(
      new Error('invalid input syntax for type numeric: "planted-value" of ann@example.com'),
      { code: '22P02' },
    );
    const shown = renderUnknownError(error, terminal);
    expect(shown).toContain('invalid input syntax for type numeric: "…" of a***@***');
    expect(shown).not.toMatch(/planted|ann@/);
  });
});

describe('progress', () => {
  const step = { name: 'post', label: 'Posting', unit: 'orders', total: 10_000 } as const;

  test('shows a bar with share, count, rate and time left within the width', () => {
    const line = renderBar({ step, done: 4_200, rows: 0, elapsedMs: 1_050_000 }, 79);
    expect(line).toBe('Posting  [█████████░░░░░░░░░░░░░]   42%  4,200/10,000 orders  4.0/s  ETA 24 min');
    expect(line.length).toBeLessThanOrEqual(79);
  });

  test('shows less on a narrow terminal, never a broken line', () => {
    for (let columns = 20; columns < 100; columns += 1) {
      const state = {
        step: { ...step, label: 'Reading a-very-long-file-name.csv.gz' },
        done: 9_999,
        rows: 0,
        elapsedMs: 4_000,
      };
      expect(renderBar(state, columns).length).toBeLessThanOrEqual(columns);
    }
  });

  test('shows no bar without a known total', () => {
    const reading = { name: 'read', label: 'Reading a.csv', unit: 'bytes', total: null } as const;
    expect(renderBar({ step: reading, done: 5e6, rows: 40_000, elapsedMs: 4_000 }, 79)).toBe(
      'Reading a.csv  40,000 rows  10,000/s',
    );
    expect(renderLine({ step: reading, done: 5e6, rows: 0, elapsedMs: 4_000 })).toBe(
      'Reading a.csv: 5.0 MB, 1.3 MB/s',
    );
  });

  test('says no rate of what took only moments', () => {
    const posting = { name: 'post', label: 'Posting orders', unit: 'orders', total: null } as const;
    const posted = (elapsedMs: number) => renderDone({ step: posting, done: 9, rows: 0, elapsedMs });
    expect(posted(1_400)).toBe('Posting orders: 9 orders in 1 s');
    expect(posted(3_000)).toBe('Posting orders: 9 orders in 3 s (3.0/s)');
  });

  test('uses the singular for one', () => {
    const posting = { name: 'post', label: 'Posting orders', unit: 'orders', total: null } as const;
    const reading = { name: 'read', label: 'Reading a.csv', unit: 'bytes', total: null } as const;
    expect(renderDone({ step: posting, done: 1, rows: 0, elapsedMs: 0 })).toBe(
      'Posting orders: 1 order in 0 s',
    );
    expect(renderDone({ step: reading, done: 9, rows: 1, elapsedMs: 0 })).toBe(
      'Reading a.csv: 9 B, 1 row in 0 s',
    );
    // What counts seconds has no rate.
    const waiting = { name: 'wait', label: 'Waiting to start', unit: 'seconds', total: 48 } as const;
    expect(renderDone({ step: waiting, done: 47, rows: 0, elapsedMs: 49_000 })).toBe(
      'Waiting to start: 49 s',
    );
  });

  test('writes a line into a pipe each 10 % or 30 s, and one at the end', () => {
    const stream = new PassThrough();
    let nowMs = 0;
    const progress = createLineProgress(stream, () => nowMs);
    progress.begin({ ...step, total: 1_000 });
    for (let done = 0; done < 200; done += 1) {
      nowMs += 100;
      progress.advance(1);
    }
    nowMs += 30_000;
    progress.advance(1);
    progress.note('a.csv is held');
    progress.end();
    expect(String(stream.read()).trimEnd().split('\n')).toEqual([
      'Posting: 10 % (100/1,000 orders, 10/s, 1 min 30 s left)',
      'Posting: 20 % (200/1,000 orders, 10/s, 1 min 20 s left)',
      'Posting: 20 % (201/1,000 orders, 4.0/s, 3 min 19 s left)',
      'a.csv is held',
      'Posting: 201 orders in 50 s (4.0/s)',
    ]);
  });

  test('does not write ten thousand lines for ten thousand small files', () => {
    const stream = new PassThrough();
    let nowMs = 0;
    const progress = createLineProgress(stream, () => nowMs);
    const read = { name: 'read', unit: 'bytes', total: 100 } as const;
    for (let file = 1; file <= 10_000; file += 1) {
      progress.begin({ ...read, label: `Reading ${file}.csv` });
      progress.advance(100, 1);
      nowMs += 5;
    }
    progress.begin({ ...step, total: 1 });
    progress.end();
    const lines = String(stream.read()).trimEnd().split('\n');
    expect(lines[0]).toBe('Reading 1.csv: 100 B, 1 row in 0 s');
    expect(lines.slice(10)).toEqual([
      'and 6,000 more: 600 kB, 6,000 rows in 30 s (200/s)',
      'and 3,990 more: 399 kB, 3,990 rows in 20 s (200/s)',
      'Posting: 0 orders in 0 s',
    ]);
  });

  test('with --json is written as events, at most one a second', () => {
    const events: unknown[] = [];
    let nowMs = 0;
    const progress = createEventProgress(
      (event) => events.push(event),
      () => nowMs,
    );
    progress.begin({ ...step, total: 20 });
    for (let done = 0; done < 20; done += 1) {
      nowMs += 200;
      progress.advance(1);
    }
    progress.end();
    const posting = { step: 'post', unit: 'orders', total: 20 };
    expect(events).toEqual([
      { event: 'step_began', ...posting, label: 'Posting' },
      // In the first seconds, a rate says nothing.
      { event: 'progress', ...posting, done: 5, per_second: null, seconds_left: null },
      { event: 'progress', ...posting, done: 10, per_second: null, seconds_left: null },
      { event: 'progress', ...posting, done: 15, per_second: 5, seconds_left: 1 },
      { event: 'progress', ...posting, done: 20, per_second: 5, seconds_left: null },
      { event: 'step_ended', ...posting, done: 20, per_second: 5, seconds: 4 },
    ]);
  });
});

describe('CSV', () => {
  const rows = [
    ['id', 'note'],
    ['1', '=1+1'],
    ['-5.00', 'a, "b"'],
    ['@x', 'two\nlines'],
    ['plain', ' blanks '],
  ];

  test('escapes formulas and quotes cells that need it', () => {
    expect(renderCsv(rows, { delimiter: ',', escapeFormulas: true })).toBe(
      `id,note\r\n1,'=1+1\r\n'-5.00,"a, ""b"""\r\n'@x,"two\nlines"\r\nplain," blanks "\r\n`,
    );
  });

  test('leaves formulas as they are on request', () => {
    expect(renderCsv([['=1', 'a;b']], { delimiter: ';', escapeFormulas: false })).toBe('=1;"a;b"\r\n');
  });
});

describe('output', () => {
  test('with --json contains only events in snake case', () => {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const output = createOutput({ stdout, stderr, json: true });
    output.print('for a person');
    output.emit({ event: 'doubt', dealId: 'D1', evidence: [{ receivedAt: new Date(0) }] });
    output.fail({
      code: 'x',
      message: 'It is so.',
      help: 'Mend it.',
      exitCode: 2,
      cause: new Error('secret'),
    });
    const lines = String(stdout.read()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { event: 'doubt', deal_id: 'D1', evidence: [{ received_at: '1970-01-01T00:00:00.000Z' }] },
      { event: 'error', code: 'x', message: 'It is so.', help: 'Mend it.', exit_code: 2 },
    ]);
    expect(String(stderr.read())).toContain('Error: It is so.');
  });
});

describe('the summary of a run', () => {
  const finished: RunFinished<OrdersReport> = {
    event: 'run_finished',
    exit_code: 6,
    service: 'https://api.example.com',
    held_files: 1,
    check_warnings: 0,
    job: 'attribute-orders',
    kind: 'attribute-orders',
    run_id: '12',
    status: 'issues',
    counts: {
      files: 2,
      rows: 31,
      orders: 15,
      excluded: { test: 2, cancelled: 1 },
      unattributed: 2,
      organic: 3,
      rejected_rows: 6,
      entries: { accepted: 4, rejected: 1, in_doubt: 1, held: 0, ready: 0, already: 1 },
      ready_by_backfill: 0,
      other_currency: 0,
    },
    amounts: [{ currency: 'EUR', accepted: '1234.5000' }],
  };
  const group = { reason: null, currency: 'EUR', orders: 1, amount: '10.0000', withoutAmount: 0 } as const;
  const row = {
    code: 'bad_money',
    line: 1_204,
    record: 1_203,
    column: 'Total',
    value: '12,3x',
    rowCount: 1,
    isSettled: false,
    readFor: 'orders' as const,
    sourceFileId: '3',
    source: 's',
    version: 'v',
    runId: '12',
  };
  const details: OrderDetails = {
    dispositions: [
      { ...group, disposition: 'accepted', orders: 3, amount: '1234.5000' },
      { ...group, disposition: 'accepted', currency: 'USD', amount: '0.1000' },
      { ...group, disposition: 'already' },
      { ...group, disposition: 'excluded', reason: 'test', orders: 2 },
      { ...group, disposition: 'excluded', reason: 'cancelled' },
      { ...group, disposition: 'unattributed', reason: 'unknown_code', orders: 2 },
      { ...group, disposition: 'organic', orders: 3 },
      { ...group, disposition: 'rejected', reason: 'HTTP 422: no such influencer' },
      { ...group, disposition: 'in_doubt', reason: 'timeout' },
    ],
    duplicateFiles: 1,
    unusedRows: [],
    footerRows: [{ source: 's', uri: 's3://acme/orders/a.csv', line: 24, text: 'Suma', by: 'sum' }],
    otherCurrency: [],
    leaks: [],
    credits: [],
    creditsTotal: 0,
    unownedCodes: [{ code: 'SUMMER5', currency: 'EUR', orders: 2, amount: '150.0000', withoutAmount: 0 }],
    unownedCodesTotal: 3,
    rejectedRows: [
      {
        ...row,
        uri: 's3://acme/orders/a.csv',
        reason: 'It is not an amount of money.',
        help: 'Write it like 1249.00.',
      },
    ],
    warnings: [],
    heldFiles: [
      {
        id: '7',
        source: 's',
        uri: 's3://acme/orders/b.csv',
        code: 'header',
        message: 'The header lacks the column Total.',
        help: 'Export it again.',
      },
    ],
    doubleCredits: [],
    doubts: [
      {
        entryId: '17',
        job: 'attribute-orders',
        effect: 'referral',
        subject: 'shopify order 1005',
        orderPlatform: 'shopify',
        orderId: '1005',
        currency: 'EUR',
        amount: '10.0000',
        dealId: null,
        collabId: null,
        influencerHandle: 'mara.paints',
        reason: 'no answer within 30 s',
        attempts: 1,
        since: '2026-04-02T01:05:00.000Z',
        ageSeconds: 65,
        evidence: [],
      },
    ],
    heldOrders: [],
    adjustments: [{ kind: 'refunded', currency: 'EUR', entries: 1, amount: '-4.0000' }],
    codeProblems: [],
    areOwnersChecked: true,
  };
  const report: OrdersReport = {
    kind: 'attribute-orders',
    counts: finished.counts,
    amounts: finished.amounts,
    details,
    sumsAddUp: true,
    doubts: 1,
    needsAttention: true,
  };

  test('explains its numbers', () => {
    const text = renderSummary({ finished, report }, terminal);
    expect(text).toMatchInlineSnapshot(`
      "Run 12 of attribute-orders: finished; 6 rows were rejected, 1 file is held and 2
        orders need your attention
      Read 2 files, 31 rows, 1 file with content that was read before.

      15 orders of this job so far, each counted once:
        posted              4  1,234.50 EUR, 0.10 USD
        already known       1  posted before this run
        excluded            3  test 2, cancelled 1
        unattributed        2  unknown code 2
        organic             3  no code, link or handle
        refused             1  by the service, see below
        in doubt            1  10.00 EUR, see below

      Held files (1): nothing in them counts
        b.csv (source s): The header lacks the column Total.
          Export it again.
        # end the hold of a file that you do not need; deleting the file does not
        npx influencer-sync files release NAME --reason '…'

      Rejected rows (6)
        a.csv line 1,204, column Total "12,3x" (source s)
          It is not an amount of money.
          Write it like 1249.00.
        # all rejected rows, and how to export them so that you can correct them
        npx influencer-sync rejected --run 12
        npx influencer-sync rejected --run 12 --export fix.csv

      Rows that are no records (1): totals and notes
        a.csv (source s) line 24: "Suma", the sum of the orders above

      Codes that credited no influencer (3): highest revenue in each currency first
        code     orders     revenue
        SUMMER5       2  150.00 EUR
        and 2 more
        No influencer owned these codes on the order date, or the code belongs to
        another brand. Fix codes.csv; the next run retries these orders.

      Refused by the service (1)
        1 order, 10.00 EUR: HTTP 422: no such influencer
        Fix what the message names, often a handle or deal in codes.csv. The next run
        sends the orders that changed.

      Doubts (1): 10.00 EUR
        The service may have credited these orders, but no answer says so. They are
        not sent again automatically.
        entry 17: order 1005, 10.00 EUR, 1 min 5 s ago: no answer within 30 s
        # look up each order in the service, then settle it
        npx influencer-sync review

      Changed after they were posted (1): refunded 1 (-4.00 EUR)
        The service has no operation to correct an order, so nothing was sent. Each
        change is recorded as an adjustment.

      The sums add up: 15 orders = 4 posted + 1 already known + 3 excluded +
        2 unattributed + 3 organic + 1 refused + 1 in doubt.
      "
    `);
    expect(widestLine(text)).toBeLessThanOrEqual(80);
  });

  test('names a held file only once', () => {
    const uri = 'file:///exports/a%20b.csv';
    const held = { id: '7', source: 's', uri, code: 'x', message: `${uri} is not utf-8.`, help: 'Set it.' };
    const alike = ['1.csv', '2.csv'].map((name) => ({ ...held, uri: name, message: 'It lacks "Total".' }));
    const summary = renderSummary(
      { finished, report: { ...report, details: { ...details, heldFiles: [held, ...alike] } } },
      terminal,
    );
    expect(summary).toContain('  a b.csv (source s) is not utf-8.\n');
    expect(summary).toContain('  1.csv, 2.csv (source s): It lacks "Total".\n    Set it.');
  });

  test('shows how many of the orders to be posted belong to a backfill', () => {
    const waiting: OrderDetails = {
      ...details,
      dispositions: [
        { ...group, disposition: 'ready', orders: 2, amount: '20.0000' },
        { ...group, disposition: 'ready', reason: 'by_backfill', orders: 5, amount: '50.0000' },
        { ...group, disposition: 'ready', reason: 'by_backfill', currency: 'USD' },
      ],
    };
    const counts = { ...report.counts, entries: { ...report.counts.entries, ready: 8 } };
    const summary = renderSummary({ finished, report: { ...report, counts, details: waiting } }, terminal);
    expect(summary).toContain(
      'to be posted        8  70.00 EUR, 10.00 USD, 6 of them by the backfill\n                         (50.00 EUR, 10.00 USD)',
    );
  });

  test('omits empty lines of the report', () => {
    const none = {
      ...finished,
      status: 'ok',
      counts: {
        ...finished.counts,
        orders: 0,
        excluded: {},
        unattributed: 0,
        organic: 0,
        rejected_rows: 0,
        entries: { accepted: 0, rejected: 0, in_doubt: 0, held: 0, ready: 0, already: 0 },
      },
    } as const;
    const nothing: OrderDetails = {
      dispositions: [],
      duplicateFiles: 0,
      footerRows: [],
      unusedRows: [],
      credits: [],
      creditsTotal: 0,
      unownedCodes: [],
      unownedCodesTotal: 0,
      rejectedRows: [],
      heldFiles: [],
      warnings: [],
      doubleCredits: [],
      doubts: [],
      heldOrders: [],
      adjustments: [],
      otherCurrency: [],
      leaks: [],
      codeProblems: [],
      areOwnersChecked: true,
    };
    expect(
      renderSummary(
        { finished: none, report: { ...report, counts: none.counts, details: nothing } },
        terminal,
      ),
    ).toMatchInlineSnapshot(`
      "Run 12 of attribute-orders: ok
      Read 2 files, 31 rows.

      0 orders of this job so far, each counted once:
        posted              0
        already known       0
        in doubt            0

      The sums add up: 0 orders = 0.
      "
    `);
  });

  test('warns in capitals if the sums do not add up', () => {
    const text = renderSummary({ finished, report: { ...report, sumsAddUp: false } }, terminal);
    expect(text).toContain('THE SUMS DO NOT ADD UP: 15 orders = ');
  });

  test('shows why the run stopped', () => {
    const failed: RunFinished = { ...finished, status: 'failed' };
    const text = renderSummary(
      { finished: failed, report, problem: 'It stopped: the key was refused.' },
      terminal,
    );
    expect(text).toContain('Run 12 of attribute-orders: failed\nIt stopped: the key was refused.\n');
  });

  test('says for a plan that nothing was sent', () => {
    const dispositions = [{ ...group, disposition: 'ready' as const }];
    const counts = { ...report.counts, entries: { ...report.counts.entries, ready: 1 } };
    const held = {
      job: 'j',
      since: new Date(0),
      source: 's',
      reason: 'unknown_status',
      decision: null,
      status: 'fetched',
      currency: 'EUR',
    };
    const heldOrders = [
      {
        ...held,
        orders: 1,
        amount: '10.00',
        withoutAmount: 0,
        sent: 0,
        sentAmount: null,
        sentWithoutAmount: 0,
        postedAmount: null,
        sentRefunded: null,
      },
    ];
    const posted = heldOrders.map((group) => ({ ...group, orders: 0, amount: null, sent: 1 }));
    const unused = { line: 1, column: 'shade', value: null, reason: 'It is not used.', help: 'Rename it.' };
    const alone = {
      ...finished.counts,
      rejected_rows: 0,
      excluded: {},
      entries: { ...finished.counts.entries, rejected: 0, held: 0 },
      other_currency: 0,
    };
    expect(
      describeOutcome(
        {
          finished: { ...finished, counts: alone },
          report: {
            ...report,
            counts: alone,
            doubts: 0,
            details: { ...details, heldFiles: [], heldOrders: posted, codeProblems: [unused] },
          },
        },
        renderOrders,
      ),
    ).toBe('finished; 1 column of codes.csv is not used and 1 posted order would be held today');
    const planned = { ...report, counts, details: { ...details, dispositions, heldOrders } };
    const text = renderSummary({ finished, report: planned, isPlan: true }, terminal);
    expect(text).toContain('Plan of attribute-orders: nothing was sent');
    expect(text).toContain('would be posted');
    expect(text).not.toContain('to be posted');
    expect(text).not.toContain('rejected --run');
    // Nothing is stored, so nothing could be decided about yet.
    expect(text).toMatch(
      /after the run, to see the orders, and to decide about them\s+npx influencer-sync review --held/,
    );
  });
});
