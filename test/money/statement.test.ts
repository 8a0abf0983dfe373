import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { monthAfter } from '../../src/core/time/month.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { pdfText } from '../support/pdf-text.ts';
import { runHere } from '../support/run-here.ts';
import { countBlocked, waitFor } from '../support/wait-for.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, return_window_days: 30, time_zone: Europe/Amsterdam}
`;
const TERMS = `deal_id,code,rate,fixed_fee,currency,valid_from,valid_to
DEALMIA,,10,,,,
DEALBEN,,12.5,200,EUR,2026-03-01,
`;

type Order = {
  readonly id: string;
  readonly revenue: string;
  readonly day: string;
  readonly code?: string;
  readonly status?: string;
};

function toCsv(orders: readonly Order[]): string {
  return `${[
    HEADER,
    ...orders.map(
      ({ id, revenue, day, code = 'MIA10', status = 'paid' }) =>
        `${id},${revenue},EUR,${code},${day}T23:30:00Z,${status}`,
    ),
  ].join('\n')}\n`;
}

async function openShop(terms = TERMS): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('terms.csv', terms);
  return shop;
}

async function linesOf(shop: Workshop, month: string): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await shop.cli('statement', '--month', month, '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'statement_line');
}

async function accrualsOf(shop: Workshop, month: string): Promise<readonly string[]> {
  const { stdout } = await shop.cli('accruals', month, '--format', 'csv');
  return stdout.trim().split('\r\n').slice(1);
}

describe('a statement', () => {
  it('contains the earnings of each deal from orders that can no longer be returned, and lists pending orders', async () => {
    const shop = await openShop();
    shop.drop(
      'orders.csv',
      toCsv([
        { id: 'A1', revenue: '100.00', day: '2026-03-01' },
        { id: 'A2', revenue: '33.33', day: '2026-03-20' },
        { id: 'B1', revenue: '80.00', day: '2026-03-02', code: 'BEN15' },
        // In Amsterdam, this is 1 April, so the return window ends in May.
        { id: 'A3', revenue: '50.00', day: '2026-03-31' },
        { id: 'C1', revenue: '50.00', day: '2026-03-01', code: 'NOBODY' },
      ]),
    );
    await shop.run();
    const { stdout, exitCode } = await shop.cli('statement', '--month', '2026-04');
    expect(exitCode).toBe(0);
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'Statement of 2026-04, open: it may still change. Days are in the time zone Europe/Amsterdam. To pay: 223.33 EUR',
    );
    expect(stdout).toMatch(/DEALBEN +ben\S* +1 +80\.00 +10\.00 +200\.00 +210\.00 EUR/);
    expect(stdout).toMatch(/DEALMIA +mia\S* +2 +133\.33 +13\.33 +13\.33 EUR/);
    expect(stdout).toMatch(/Pending: 1 order\n[\s\S]*DEALMIA +mia\.test +1 +50\.00 EUR +5\.00 EUR/);
    expect((await linesOf(shop, '2026-05')).map(({ order_id }) => order_id)).toContain('A3');
    // What is earned at the end of a month: no order that came later, and no return window that ends later is over.
    expect(await accrualsOf(shop, '2026-03')).toEqual([
      '2026-03,pending,2026-03,4819,EUR,3,23.3300',
      '2026-03,to_close,2026-03,,EUR,0,200.0000',
    ]);
    expect(await accrualsOf(shop, '2026-04')).toEqual([
      '2026-04,pending,2026-04,4819,EUR,1,5.0000',
      '2026-04,to_close,2026-03,,EUR,0,200.0000',
      '2026-04,to_close,2026-03,4819,EUR,3,23.3300',
    ]);
  });

  it('never changes after it was closed: a refund, a late file and new terms appear in the next one', async () => {
    const shop = await openShop();
    shop.drop(
      'orders.csv',
      toCsv([
        { id: 'A1', revenue: '100.00', day: '2026-03-01' },
        { id: 'A2', revenue: '40.00', day: '2026-03-02' },
        { id: 'A3', revenue: '50.00', day: '2026-03-31' },
        { id: 'A4', revenue: '60.00', day: '2026-03-03', status: 'mystery' },
      ]),
    );
    await shop.run();
    const closed = await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
    expect([closed.exitCode, closed.stdout]).toEqual([
      0,
      expect.stringMatching(/^The statement of 2026-04 is closed: 3 lines, SHA-256\s+[0-9a-f]{64}\./),
    ]);
    // What it leaves out is said once: a closed statement no longer knows.
    expect(closed.stdout).toMatch(/Pending: 1 order[\s\S]*DEALMIA +mia\.test +1 +50\.00 EUR/);
    expect(closed.stdout).toMatch(
      /Held orders \(1\): 60\.00 EUR[\s\S]*status "mystery" is not known[\s\S]*influencer-sync review --held/,
    );
    expect(closed.stdout).toMatch(
      /Not credited yet: 1 order, 60\.00 EUR[\s\S]*A4 +2026-03-04 +60\.00 EUR +held: unknown status[\s\S]*influencer-sync review\n/,
    );
    const before = await linesOf(shop, '2026-04');
    // One order is partly refunded, one is cancelled, and one is exported late.
    shop.drop(
      'later.csv',
      toCsv([
        { id: 'A1', revenue: '60.00', day: '2026-03-01' },
        { id: 'A2', revenue: '40.00', day: '2026-03-02', status: 'cancelled' },
        { id: 'A9', revenue: '10.00', day: '2026-02-01' },
      ]),
    );
    await shop.run();
    expect(await linesOf(shop, '2026-04')).toEqual(before);
    const next = await linesOf(shop, '2026-05');
    expect(
      next.map(({ kind, order_id: id, amount, closed_before: before }) => [kind, id, amount, before]),
    ).toEqual([
      ['order', 'A9', '1.0000', '0.0000'],
      ['correction', 'A1', '-4.0000', '10.0000'],
      ['correction', 'A2', '-4.0000', '4.0000'],
      ['order', 'A3', '5.0000', '0.0000'],
    ]);
    // A higher rate, valid from the first day on.
    shop.write('terms.csv', TERMS.replace('DEALMIA,,10', 'DEALMIA,,20'));
    const better = await linesOf(shop, '2026-05');
    expect(better.find(({ order_id }) => order_id === 'A1')?.amount).toBe('2.0000');
    const audit = await shop.db.selectFrom('ops.audit').select(['action', 'subject', 'reason']).execute();
    expect(audit).toEqual([{ action: 'close_statement', subject: '2026-04', reason: 'paid out' }]);
  });

  it('marks the earnings of an order without a rate as unknown', async () => {
    const shop = await openShop(TERMS.replace('DEALMIA,,10,,,,\n', ''));
    shop.drop('orders.csv', toCsv([{ id: 'A1', revenue: '100.00', day: '2026-03-01' }]));
    await shop.run();
    const { stdout } = await shop.cli('statement', '--month', '2026-04', '--deal', 'DEALMIA');
    expect(stdout).toMatch(/Rate unknown/);
    expect((await shop.cli('accruals', '2026-04')).stdout).toMatch(
      /at least\s+200\.00 EUR[\s\S]*unknown EUR/,
    );
    expect(stdout).toMatch(/DEALMIA +\S* *1 +100\.00 EUR +unknown/);
    expect(await linesOf(shop, '2026-04')).toHaveLength(1);
  });

  it('applies the terms of a code before those of its deal, by the day of the order', async () => {
    const shop = await openShop(`${TERMS},mia10,25,,,2026-03-02,2026-03-03\n`);
    shop.drop(
      'orders.csv',
      toCsv(
        ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'].map((day, index) => ({
          id: `A${index}`,
          revenue: '100.00',
          day,
        })),
      ),
    );
    await shop.run();
    const lines = (await linesOf(shop, '2026-04')).filter(({ deal_id }) => deal_id === 'DEALMIA');
    expect(
      lines.map(({ ordered_on, rate_percent, rate_from }) => [ordered_on, rate_percent, rate_from]),
    ).toEqual([
      ['2026-03-01', '10', 'deal'],
      ['2026-03-02', '25', 'code'],
      ['2026-03-03', '25', 'code'],
      ['2026-03-04', '10', 'deal'],
    ]);
  });

  it('corrects an order that was cancelled after it was paid, also if only the terms of its code have a rate', async () => {
    const shop = await openShop('code,rate\nMIA10,25\n');
    const order = { id: 'A1', revenue: '100.00', day: '2026-03-01' };
    shop.drop('orders.csv', toCsv([order]));
    await shop.run();
    await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
    shop.drop('later.csv', toCsv([{ ...order, status: 'cancelled' }]));
    await shop.run();
    expect((await linesOf(shop, '2026-05')).map(({ kind, amount }) => [kind, amount])).toEqual([
      ['correction', '-25.0000'],
    ]);
  });

  it('is announced in the report of a run: the earnings of each deal so far, including pending orders, or unknown', async () => {
    const shop = await openShop();
    shop.drop(
      'orders.csv',
      toCsv([
        { id: 'A1', revenue: '100.00', day: '2026-03-01' },
        { id: 'A2', revenue: '33.33', day: '2026-03-20' },
        // The rate of BEN before the beginning of his terms is unknown.
        { id: 'B1', revenue: '80.00', day: '2026-02-02', code: 'BEN15' },
      ]),
    );
    await shop.cli('run', 'orders', '--report', 'run.html');
    const page = readFileSync(join(shop.folder, 'run.html'), 'utf8')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(page).toContain('Commission');
    expect(page).toMatch(/mia\.test 2 2 133\.33 EUR 13\.33 EUR/);
    expect(page).toMatch(/ben\.test 1 1 80\.00 EUR unknown/);
  });

  it('is available as CSV for a spreadsheet and HTML for a browser, with the text of orders escaped', async () => {
    const shop = await openShop();
    shop.drop(
      'orders.csv',
      toCsv([
        { id: '@cmd()', revenue: '100.00', day: '2026-03-01' },
        { id: '<b>1</b>', revenue: '1.00', day: '2026-03-01' },
      ]),
    );
    await shop.run();
    const csv = (await shop.cli('statement', '--month', '2026-04', '--format', 'csv')).stdout;
    expect(csv).toMatch(/^kind,deal_id,/);
    expect(csv).toContain(",'@cmd(),");
    const page = (await shop.cli('statement', '--month', '2026-04', '--format', 'html')).stdout;
    expect(page).toMatch(/^<!DOCTYPE html>/);
    expect(page).toContain('&lt;b&gt;1&lt;/b&gt;');
    expect(page).not.toContain('<b>1</b>');
  });

  it('is available as a PDF with the amounts of the CSV, always identical, and never written to a terminal', async () => {
    const shop = await openShop();
    const orders = Array.from({ length: 60 }, (_, index) => ({
      id: `A${index}`,
      revenue: `${index + 10}.37`,
      day: '2026-03-01',
      ...(index % 3 === 0 ? { code: 'BEN15' } : {}),
    }));
    shop.drop('orders.csv', toCsv(orders));
    await shop.run();
    const print = (format: string) => shop.cli('statement', '--month', '2026-04', '--format', format);
    const { stdoutBytes } = await print('pdf');
    const text = pdfText(stdoutBytes);
    const rows = (await print('csv')).stdout
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(','));
    const amounts = rows.slice(1).map((cells) => Number(cells[rows[0]?.indexOf('amount') ?? -1]));
    expect(amounts).toHaveLength(61);
    const total = amounts.reduce((sum, amount) => sum + amount, 0).toFixed(2);
    expect(text).toContain(`To pay: ${total} EUR`);
    // Both each line and each deal are printed, so the printed amounts add up to twice the total.
    const printed = text
      .filter((piece) => / EUR$/.test(piece) && !piece.startsWith('To pay'))
      .reduce((sum, piece) => sum + Math.round(Number.parseFloat(piece.replace(/,/g, '')) * 100), 0);
    expect(printed).toBe(Math.round(Number(total) * 200));
    expect((await print('pdf')).stdoutBytes.equals(stdoutBytes)).toBe(true);
    const onTerminal = await runHere(
      ['statement', '--month', '2026-04', '--format', 'pdf', '--config', join(shop.folder, 'pipeline.yaml')],
      { columns: 80 },
    );
    expect([onTerminal.exitCode, onTerminal.stderr]).toEqual([
      2,
      expect.stringContaining('Write it to a file'),
    ]);
  });
});

describe('closing a statement', () => {
  it('is refused twice, before the end of the month, and for a month before a closed one', async () => {
    const shop = await openShop();
    const close = (month: string) => shop.cli('statement', 'close', '--month', month, '--reason', 'paid out');
    const thisMonth = new Date().toISOString().slice(0, 7);
    const early = (await close(thisMonth)).stderr;
    expect(early).toContain(`${thisMonth} is not over.`);
    expect(early).toContain(`You can close it from ${monthAfter(thisMonth)}-01 on.`);
    expect((await close('2026-04')).exitCode).toBe(0);
    const again = await close('2026-04');
    expect([again.exitCode, again.stderr]).toEqual([
      2,
      expect.stringMatching(/The statement of 2026-04 was closed by/),
    ]);
    expect((await close('2026-03')).stderr.replace(/\s+/g, ' ')).toContain(
      'The statement of 2026-04 is closed, and it includes the orders of 2026-03',
    );
    expect((await shop.cli('statement', 'close', '--month', '2026-05', '--reason', ' ')).exitCode).toBe(2);
    expect((await shop.cli('statement', '--month', '2026-13')).exitCode).toBe(2);
  });

  it('is atomic: a process that is killed leaves nothing, and the next one closes the same lines', async () => {
    const shop = await openShop();
    shop.drop('orders.csv', toCsv([{ id: 'A1', revenue: '100.00', day: '2026-03-01' }]));
    await shop.run();
    const open = await linesOf(shop, '2026-04');
    // When the command waits for this lock, it has already written the statement and its lines.
    const holder = await shop.db.startTransaction().execute();
    await sql`lock table ops.audit in access exclusive mode`.execute(holder);
    const closing = shop.start('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
    await waitFor(async () => (await countBlocked(shop.db)) > 0);
    closing.kill('SIGKILL');
    await closing.ended;
    await holder.rollback().execute();
    expect(await shop.db.selectFrom('ops.statement_lines').selectAll().execute()).toEqual([]);
    expect(await linesOf(shop, '2026-04')).toEqual(open);
    expect(
      (await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out')).exitCode,
    ).toBe(0);
    expect(await linesOf(shop, '2026-04')).toEqual(open);
  });

  it('is permanent: the database refuses changes, and verify finds changes that were made anyway', async () => {
    const shop = await openShop();
    shop.drop('orders.csv', toCsv([{ id: 'A1', revenue: '100.00', day: '2026-03-01' }]));
    await shop.run();
    for (const month of ['2026-04', '2026-05'])
      await shop.cli('statement', 'close', '--month', month, '--reason', 'paid out');
    for (const change of [
      sql`update ops.statement_lines set currency = 'USD'`,
      sql`delete from ops.statement_lines`,
      sql`truncate ops.statements`,
      sql`update ops.statements set reason = 'x'`,
    ])
      await expect(change.execute(shop.db)).rejects.toThrow('Closed statements are never changed');
    expect((await shop.cli('statement', 'verify')).stdout).toBe(
      '2 closed statements: none has been changed since it was closed.\n',
    );
    await sql`alter table ops.statement_lines disable trigger all`.execute(shop.db);
    await sql`update ops.statement_lines set deal_id = 'DEALBEN' where order_id = 'A1'`.execute(shop.db);
    const { exitCode, stdout } = await shop.cli('statement', 'verify');
    expect([exitCode, stdout]).toEqual([
      3,
      expect.stringMatching(/^Changed since they were closed: 2026-04\./),
    ]);
  });
});

describe('the terms of statements', () => {
  it('stop the command if they have an error, which names the line, or if their file is missing', async () => {
    const shop = await openShop('deal_id,rate\nD1,a lot\n');
    const { exitCode, stderr } = await shop.cli('statement', '--month', '2026-04');
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/terms\.csv:2 rate[\s\S]*"a lot": This is not a readable number\./);
    shop.write('pipeline.yaml', FLOW.replace('terms.csv', 'none.csv'));
    expect((await shop.cli('statement')).stderr).toContain('The terms or exchange rates cannot be read.');
  });
});
