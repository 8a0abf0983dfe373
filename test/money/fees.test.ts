import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { isOnlyOwner, ownerOfFee } from '../../src/money/read-statement.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { open } from './few-orders.ts';

vi.setConfig({ testTimeout: 120_000 });

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

type Owner = readonly [handle: string | null, deal: string | null];
/** Codes with their owners today, the owner of the fee (deal, handle, brand), and who else was ever named. */
const OWNED: readonly {
  readonly code: string;
  readonly of: readonly Owner[];
  readonly owner: string;
  readonly assigned?: Owner;
  readonly credited?: Owner;
  /** Handle of a closed line. */
  readonly closed?: string;
  readonly isOnly?: false;
}[] = [
  { code: 'one', of: [['Mia', 'M1']], owner: 'M1 mia.now B1' },
  {
    code: 'twice',
    of: [
      ['Mia', 'M1'],
      ['@mia', 'M1'],
    ],
    owner: 'M1 mia.now B1',
  },
  {
    code: 'two',
    of: [
      ['mia', 'M1'],
      ['ben', 'M2'],
    ],
    owner: '- - -',
    assigned: ['mia', 'M1'],
    isOnly: false,
  },
  {
    code: 'deals',
    of: [
      ['mia', 'M1'],
      ['mia', 'M2'],
    ],
    owner: '- - -',
  },
  { code: 'bare', of: [[null, 'M3']], owner: 'M3 zoe -' },
  { code: 'only', of: [['Eve', null]], owner: '- Eve -' },
  { code: 'blank', of: [['ida', 'M4']], owner: 'M4 ida -' },
  { code: 'unread', of: [['kim', 'M9']], owner: 'M9 kim -' },
  { code: 'none', of: [], owner: '- - -' },
  {
    ...{ code: 'same', of: [['mia', 'M1']], owner: 'M1 mia.now B1', closed: 'mia.now' },
    ...{ assigned: ['@Mia.Now', null], credited: ['MIA.now', 'M7'] },
  },
  { code: 'assigned', of: [['mia', 'M1']], owner: 'M1 mia.now B1', assigned: ['ben', 'M1'], isOnly: false },
  { code: 'credited', of: [['mia', 'M1']], owner: 'M1 mia.now B1', credited: ['ben', 'M1'], isOnly: false },
  { code: 'closed', of: [['mia', 'M1']], owner: 'M1 mia.now B1', closed: 'ben', isOnly: false },
  // Who names no creator names the deal.
  {
    ...{ code: 'unnamed', of: [['mia', 'M1']], owner: 'M1 mia.now B1', closed: '' },
    ...{ assigned: [null, 'M1'], credited: [null, 'M1'] },
  },
  { code: 'moved', of: [['mia', 'M1']], owner: 'M1 mia.now B1', credited: [null, 'M2'], isOnly: false },
  { code: 'lost', of: [['mia', 'M1']], owner: 'M1 mia.now B1', assigned: [null, 'M2'], isOnly: false },
  { code: 'bare-deal', of: [[null, 'M5']], owner: 'M5 - -', credited: ['ben', 'M5'] },
  { code: 'bare-other', of: [[null, 'M5']], owner: 'M5 - -', credited: ['ben', 'M6'], isOnly: false },
];

it('the owner of a code with a fee is the only one of today, and no other one was ever named', async () => {
  const db = await open({ at: '2025-01-01', code: 'Other', deal: 'M8' });
  await sql`
    insert into mirror.known_deals (deal_id, first_way, ways) select 'M' || n, 'list', array['list'] from generate_series(1, 4) n`.execute(
    db,
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, raw, row_hash, valid_from, first_seen_at, run_id)
    values ('M1', 'mia.now', 'B1', '{}', '', now(), now(), 1), ('M2', 'ben', 'B2', '{}', '', now(), now(), 1),
      ('M3', 'zoe', '', '{}', '', now(), now(), 1), ('M4', '', null, '{}', '', now(), now(), 1)`.execute(db);
  let line = 100;
  for (const { code, of, assigned, credited, closed } of OWNED) {
    for (const [handle, deal] of of) {
      line += 1;
      await sql`
        insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
        values ('orders', ${line}, ${code.toUpperCase()}, ${code}, ${handle}, coalesce(ledger.fold_handle(${handle}), ''), ${deal}, '')`.execute(
        db,
      );
    }
    line += 1;
    if (assigned !== undefined)
      await sql`
        insert into intake.code_assignments (job, code, code_folded, influencer_handle, deal_id, assigned_by)
        values ('orders', ${code}, ${code}, ${assigned[0]}, ${assigned[1]}, 'ada')`.execute(db);
    if (closed !== undefined)
      await sql`
        insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, influencer_handle, currency, earned_amount, closed_before, amount)
        values (1, ${line}, 'fixed_fee', ${`fee:code ${code}:2025-01-01`}, '2025-01-01', ${closed}, 'EUR', 1, 0, 1)`.execute(
        db,
      );
    if (credited === undefined) continue;
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, order_id, amount, currency, deal_id, run_id)
        overriding system value
      values (${line}, 'referral', 'a', ${String(line)}, 'accepted', 1, '{}', '', 'orders', ${String(line)}, 1, 'EUR', ${credited[1]}, 1)`.execute(
      db,
    );
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, influencer_handle,
        currency, entry_id, is_pending, rules_hash)
      values ('orders', 'shop', ${String(line)}, 1, 'attributed', 'code', ${`@${code.toUpperCase()}`}, 'x', ${credited[0]}, 'EUR', ${line}, false, '')`.execute(
      db,
    );
  }
  const said = sql`concat_ws(' ', coalesce(o.deal_id, '-'), coalesce(o.handle, '-'), coalesce(o.brand_id, '-'))`;
  const { rows } = await sql<{ code: string; owner: string; isOnly: boolean }>`
    select fee.code, ${said} as owner, ${isOnlyOwner(sql`fee.subject`)} as "isOnly"
    from (select code, place, 'fee:code ' || code || ':2025-01-01' as subject
      from unnest(${OWNED.map(({ code }) => code)}::text[]) with ordinality u(code, place)) fee
    cross join lateral (${ownerOfFee({ subject: sql`fee.subject`, dealId: sql`null::text` })}) o
    order by fee.place`.execute(db);
  expect(rows).toEqual(OWNED.map(({ code, owner, isOnly = true }) => ({ code, owner, isOnly })));
  // Of a fee of a deal, the codes say whose the deal is, if the mirror does not.
  const ofDeal = async (deal: string) => {
    const { rows: found } = await sql<{ owner: string }>`
      select ${said} as owner
      from (${ownerOfFee({ subject: sql`${`fee:deal ${deal}:2025-01-01`}::text`, dealId: sql`${deal}::text` })}) o`.execute(
      db,
    );
    return found[0]?.owner;
  };
  expect(await Promise.all(['M1', 'M2', 'M4', 'M9', 'M10'].map(ofDeal))).toEqual([
    ...['M1 mia.now B1', 'M2 ben B2', 'M4 ida -', 'M9 kim -', 'M10 - -'],
  ]);
});
