import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, return_window_days: 1, time_zone: UTC}
`;

/** Opens a shop with an order of DEALMIA, whose codes.csv knows DEALMIA and DEALBEN. */
async function openShop(fees: readonly string[]): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  writeFees(shop, fees);
  shop.drop('orders.csv', toCsv([{ id: 'A1', revenue: '100.00' }]));
  await shop.run();
  return shop;
}

function writeFees(shop: Workshop, fees: readonly string[]): void {
  // A second row of DEALMIA would overlap.
  const rates = fees.includes('DEALMIA,') ? [] : ['DEALMIA,,10,,,'];
  const rows = fees.map((of) => `${of},,200,EUR,2026-04-01`);
  shop.write(
    'terms.csv',
    `${['deal_id,code,rate,fixed_fee,currency,valid_from', ...rates, ...rows].join('\n')}\n`,
  );
}

/** The fees of a month: `deal or code: amount`, and those that are not paid with `unknown`. */
async function feesOf(shop: Workshop, month = '2026-04'): Promise<readonly string[]> {
  const { stdout } = await shop.cli('statement', '--month', month, '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string | null>)
    .flatMap((line) => {
      const of = line.deal_id ?? line.code ?? line.subject;
      if (line.event === 'statement_unknown_fee') return [`unknown ${of}: ${line.amount} ${line.currency}`];
      return line.event === 'statement_line' && line.entry_id === null ? [`${of}: ${line.amount}`] : [];
    });
}

const close = async (shop: Workshop, month: string): Promise<void> => {
  const { exitCode, stderr } = await shop.cli('statement', 'close', '--month', month, '--reason', 'paid out');
  expect(exitCode, stderr).toBe(0);
};

describe('a fixed fee', () => {
  it('of a deal or code that nobody knows is not paid, but listed wherever the statement is shown, and not closed', async () => {
    const shop = await openShop(['DEAL-MAI,', 'DEALBEN,', ',MIA01', ',BEN15']);
    expect(await feesOf(shop)).toEqual([
      'DEALBEN: 200.0000',
      'fee:code ben15:2026-04-01: 200.0000',
      'unknown DEAL-MAI: 200.0000 EUR',
      'unknown mia01: 200.0000 EUR',
    ]);
    expect(await feesOf(shop, '2026-03')).toEqual([]);
    const listed = (await shop.cli('statement', '--month', '2026-04')).stdout;
    expect(listed).toContain('To pay: at least 410.00 EUR, 2 fees unknown');
    expect(listed).toMatch(
      /Unknown deal: 2 fees[\s\S]*DEAL-MAI +2026-04-01 +200\.00 EUR\n.*code mia01 +2026-04-01 +200\.00 EUR[\s\S]*Correct the deal or the code/,
    );
    expect(listed).toMatch(/fees of codes +.*200\.00 EUR/);
    const { get } = await startTestConsole(shop);
    const page = textOf((await get('/statements/2026-04')).text);
    expect(page).toContain('To pay at least 410.00 EUR, 2 fees unknown');
    expect(page).toMatch(/Unknown deal: 2 fees .* DEAL-MAI 2026-04-01 200\.00 EUR code mia01 2026-04-01/);
    expect(textOf((await get('/statements/2026-04?deal=DEAL-MAI')).text)).toContain('To pay unknown');
    // What a minimum leaves out is shown of the deal and told to programs.
    shop.write('terms.csv', 'deal_id,rate,currency,min_payout\nDEALMIA,10,EUR,30\n');
    expect((await shop.cli('statement', '--month', '2026-04', '--json')).stdout).toMatch(
      /"statement_carried".*"DEALMIA".*"10\.0000".*"30\.0000"/,
    );
    expect((await shop.cli('statement', '--month', '2026-04', '--format', 'csv')).stderr).toContain(
      'carried forward is not in it',
    );
    expect(textOf((await get('/statements/2026-04?deal=DEALMIA')).text)).toMatch(
      /To pay nothing Carried forward 10\.00 EUR, below the minimum of 30\.00 EUR .* The statement has no line for this deal\./,
    );
    writeFees(shop, ['DEAL-MAI,', 'DEALBEN,', ',MIA01', ',BEN15']);
    await close(shop, '2026-04');
    expect(await feesOf(shop)).toEqual(['DEALBEN: 200.0000', 'fee:code ben15:2026-04-01: 200.0000']);
    // It stays listed until the terms are corrected, and the next statement then includes it.
    expect(await feesOf(shop, '2026-05')).toHaveLength(2);
    writeFees(shop, ['DEALMIA,', 'DEALBEN,', ',MIA10', ',BEN15']);
    expect(await feesOf(shop, '2026-05')).toEqual([
      'DEALMIA: 200.0000',
      'fee:code mia10:2026-04-01: 200.0000',
    ]);
  });

  it('in a row of its own, such as a bonus, leaves the rate of the deal as it is, and is closed once', async () => {
    const shop = await openShop([]);
    await close(shop, '2026-04');
    const bonus = 'DEALMIA,,,200,EUR,2026-05-01';
    shop.write('terms.csv', `deal_id,code,rate,fixed_fee,currency,valid_from\nDEALMIA,,10,,,\n${bonus}\n`);
    const replayed = await shop.cli('terms', 'replay', '--from', 'terms.csv', '--json');
    expect([replayed.exitCode, replayed.stderr]).toEqual([0, '']);
    expect(await feesOf(shop, '2026-05')).toEqual(['DEALMIA: 200.0000']);
    expect((await shop.cli('statement', '--month', '2026-05')).stdout).toContain('To pay: 200.00 EUR');
    await close(shop, '2026-05');
    expect(await feesOf(shop, '2026-06')).toEqual([]);
    expect((await shop.cli('statement', '--month', '2026-06')).stdout).not.toContain('DEALMIA');
  });

  it('is paid once the mirror, a list of creators, a codes.csv or a credited order knows its deal or code', async () => {
    const shop = await openShop(['DEALMIRROR,', 'DEALLIST,', 'DEALMIA,', ',Mia10']);
    const unknown = ['unknown DEALLIST: 200.0000 EUR', 'unknown DEALMIRROR: 200.0000 EUR'];
    const known = ['DEALMIA: 200.0000', 'fee:code mia10:2026-04-01: 200.0000'];
    expect(await feesOf(shop)).toEqual([...known, ...unknown]);
    // A fee names the influencer, also that of a code.
    const { stdout } = await shop.cli('statement', '--month', '2026-04');
    expect(stdout).toMatch(/fees of codes +mia\.test .*200\.00 EUR\n/);
    expect(stdout).toMatch(/DEALMIA +mia\.test .*200\.00 EUR\n/);
    // The credited order remains.
    await sql`delete from intake.codes where code = 'MIA10'`.execute(shop.db);
    expect(await feesOf(shop)).toEqual([...known, ...unknown]);
    const addToMirror = (dealId: string) =>
      // Deleted at the service since.
      sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
        total_referrals, total_sales, total_payouts, total_commission_earned, total_fixed_fee_earned, raw, row_hash, valid_from, valid_to,
        is_latest, first_seen_at, run_id)
      values (${dealId}, 'eva', 'tiktok', '1', 'D_1', true, 1, 0, 0, 0, 0, 0, 0, '{}', '', '2026-03-01', '2026-03-20', true, '2026-03-01', 1)`.execute(
        shop.db,
      );
    await addToMirror('ANOTHER');
    await sql`
      insert into intake.creators (source, handle_folded, platform, brand_id, dealflow_id, influencer_handle, source_file_id, line_no, outcome, deal_id)
      select 'list', 'eva', 'tiktok', '4819', 'D_1', 'eva', min(source_file_id), 2, 'known', 'DEALLIST' from intake.source_files`.execute(
      shop.db,
    );
    expect(await feesOf(shop)).toEqual(['DEALLIST: 200.0000', ...known, 'unknown DEALMIRROR: 200.0000 EUR']);
    await addToMirror('DEALMIRROR');
    expect(await feesOf(shop)).toEqual([
      ...['DEALLIST: 200.0000', 'DEALMIA: 200.0000', 'DEALMIRROR: 200.0000'],
      'fee:code mia10:2026-04-01: 200.0000',
    ]);
  });

  it('that was closed stays in force while the terms state it, although its deal has become unknown', async () => {
    const shop = await openShop(['DEALBEN,', ',BEN15']);
    await close(shop, '2026-04');
    await sql`delete from intake.codes where deal_id = 'DEALBEN'`.execute(shop.db);
    expect(await feesOf(shop, '2026-05')).toEqual([]);
    writeFees(shop, [',BEN15']);
    expect(await feesOf(shop, '2026-05')).toEqual(['DEALBEN: -200.0000']);
  });
});
