import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { hiddenFields } from '../console/bulk-shop.ts';
import { type ConsoleServer, startTestConsole, textOf } from '../console/console-server.ts';
import { startMailServer } from '../monitoring/notify/smtp-receiver.ts';
import { waitFor } from '../support/wait-for.ts';
import { CODES, closeMonth, IBANS, openPaymentShop, PAYEES } from './payments/payment-shop.ts';

const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status\n';

it('money is of the creator who has the deal that was posted; what was closed stays of the one to whom it was closed', async () => {
  const shop = await openPaymentShop();
  const returns = async () => {
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' ', month_utc, deal_id, influencer_handle, orders, cost_amount) as row
      from bi.returns_monthly where currency = 'EUR' order by 1`.execute(shop.db);
    return rows.map(({ row }) => row);
  };
  const closed = async (month: string) => {
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' ', kind, order_id, deal_id, coalesce(influencer_handle, '-'), amount) as row
      from bi.statement_lines where month_local = ${`${month}-01`}::date order by line_no`.execute(shop.db);
    return rows.map(({ row }) => row);
  };
  shop.write(
    'terms.csv',
    'deal_id,code,rate,fixed_fee,currency,valid_from,valid_to\nDEALMIA,,10,,,,\nDEALBEN,,10,,,,\nDEALZOE,,10,,,,2026-05-31\n,BEN15,,7,EUR,2026-04-01,\nDEALZOE,,10,3,EUR,2026-06-01,\n',
  );
  shop.drop('2-may.csv', `${HEADER}6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,paid\n`);
  await shop.run();
  // Later exports state the code of another creator, and that an order is cancelled.
  shop.drop(
    '3-later.csv',
    `${HEADER}1,100.00,EUR,ZOE20,2026-04-10T10:00:00Z,paid\n3,80.00,EUR,BEN15,2026-04-10T10:02:00Z,cancelled\n6,70.00,EUR,ZOE20,2026-05-10T10:01:00Z,paid\n`,
  );
  await shop.run();
  expect(await returns()).toEqual([
    '2026-04-01 0 7.0000',
    '2026-04-01 DEALBEN ben.test 1 0.0000',
    '2026-04-01 DEALMIA mia.test 1 10.0000',
    '2026-04-01 DEALZOE zoe.test 1 3.0000',
    '2026-05-01 DEALMIA mia.test 1 7.0000',
    // A fee of a month without orders, of a deal that no mirror knows.
    '2026-06-01 DEALZOE zoe.test 0 3.0000',
  ]);
  await closeMonth(shop, '2026-05');
  expect(await closed('2026-05')).toEqual([
    'correction 3 DEALBEN ben.test -8.0000',
    'order 6 DEALMIA mia.test 7.0000',
  ]);

  // The deal changes hands. The new creator earns from then on, and does not pay back what the former one was paid.
  shop.write('codes.csv', CODES.replace('mia.test', 'nova.test'));
  shop.write('payees.csv', `${PAYEES}nova.test;Nova;${IBANS.zoe};;;EUR\n`);
  shop.drop(
    '4-june.csv',
    `${HEADER}6,70.00,EUR,MIA10,2026-05-10T10:01:00Z,cancelled\n8,50.00,EUR,MIA10,2026-06-10T10:00:00Z,paid\n`,
  );
  await shop.run();
  const rowsOfDeal = async ({ get }: ConsoleServer) =>
    [...(await get('/statements/2026-06')).text.matchAll(/<tr data-row>.*?<\/tr>/gs)]
      .map(([row]) => textOf(row).replace(' PDF', '').trim())
      .filter((row) => /^DEALMIA \w+\.test .*EUR$/.test(row));
  const ofBoth = ['DEALMIA nova.test 1 50.00 5.00 5.00 EUR', 'DEALMIA mia.test 0 -7.00 -7.00 EUR'];
  expect(await rowsOfDeal(await startTestConsole(shop))).toEqual(ofBoth);
  await closeMonth(shop, '2026-06');
  expect(await closed('2026-06')).toEqual([
    'correction 6 DEALMIA mia.test -7.0000',
    'order 8 DEALMIA nova.test 5.0000',
    'fixed_fee DEALZOE zoe.test 3.0000',
  ]);
  expect((await shop.cli('statement', 'verify')).exitCode).toBe(0);
  const propose = async (...more: readonly string[]) => {
    const result = await shop.cli(
      ...['payments', 'propose', '2026-06', '--reason', 'month end', '--json', ...more],
    );
    const unpaid = result.stdout
      .split('\n')
      .filter((line) => line.includes('payment_unpaid'))
      .map((line) => JSON.parse(line) as Record<string, string>)
      .filter(({ creator, currency }) => currency === 'EUR' && /mia|nova/.test(creator ?? ''));
    return { ...result, unpaid: unpaid.map((one) => `${one.creator} ${Number(one.amount)} ${one.becomes}`) };
  };
  // Rows with two accounts: they are two creators, and each has what was closed to them.
  expect((await propose('--dry-run')).unpaid).toEqual(['mia.test 10 pay', 'nova.test 5 pay']);
  // One account, under two handles or for the deal: they are one.
  shop.write('payees.csv', `${PAYEES}nova.test;Mia;${IBANS.mia};;;EUR\n`);
  expect((await propose('--dry-run')).unpaid).toEqual(['nova.test 15 pay']);
  shop.write('payees.csv', `${PAYEES}DEALMIA;Mia;${IBANS.mia};;;EUR\n`);
  expect((await propose('--dry-run')).unpaid).toEqual(['dealmia 15 pay']);
  // A row of the deal alone may be that of its new creator: what was closed to the former one is not theirs.
  const withoutMia = PAYEES.replace(/^@Mia.*\n/m, '');
  shop.write('payees.csv', `${withoutMia}DEALMIA;Nova;${IBANS.zoe};;;EUR\n`);
  const held = await propose('--dry-run');
  expect(held.unpaid).toEqual(['dealmia 5 pay', 'mia.test 10 no_bank_data']);
  expect(held.exitCode).toBe(3);

  // Only a debt of the former creator is left. Without a row of theirs, both may be one person under two handles.
  const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replace(
    'terms:',
    'creators: ./creators.csv\n  terms:',
  );
  shop.write('pipeline.yaml', config.replace('from: 2026-04', 'from: 2026-06'));
  const nova = `nova.test;Nova;${IBANS.zoe};;;EUR\n`;
  shop.write('payees.csv', `${withoutMia}${nova}`);
  const unclear = await propose('--dry-run');
  expect(unclear.unpaid).toEqual(['mia.test -7 former_creator', 'nova.test 5 former_creator']);
  expect(unclear.exitCode).toBe(3);
  shop.write('payees.csv', `${PAYEES}${nova}`);
  expect((await propose('--dry-run')).unpaid).toEqual(['mia.test -7 not_positive', 'nova.test 5 pay']);

  shop.write('pipeline.yaml', config);
  expect((await propose()).unpaid).toEqual(['mia.test 10 pay', 'nova.test 5 pay']);
  const { rows: items } = await sql<{ subject: string }>`
    select concat_ws(' ', p.creator, i.subject, i.amount) as subject
    from ops.payment_items i join ops.payments p using (payment_id)
    where i.deal_id = 'DEALMIA' and i.currency = 'EUR' order by 1`.execute(shop.db);
  expect(items.map(({ subject }) => subject)).toEqual([
    'mia.test deal:DEALMIA 10.0000',
    'mia.test deal:DEALMIA 7.0000',
    'mia.test deal:DEALMIA of mia.test -7.0000',
    'nova.test deal:DEALMIA of nova.test 5.0000',
  ]);
  expect((await propose()).unpaid).toEqual([]);
  // So do the table and the documents: each creator has their own, and a mail of the deal goes to the address of the one who has it.
  shop.write('creators.csv', 'deal_id,influencer_handle,name\nDEALMIA,,Nova Ltd\n,mia.test,Mia Müller\n');
  const document = async (month: string, ...more: readonly string[]) => {
    const { exitCode, stdout, stderr } = await shop.cli(
      ...['statement', '--month', month, '--deal', 'DEALMIA', '--format', 'html', ...more],
    );
    return { exitCode, text: textOf(stdout), stderr };
  };
  expect((await shop.cli('statement', '--month', '2026-06')).stdout).toMatch(
    /DEALMIA +mia\.test +0 +-7\.00 +-7\.00 EUR\n +DEALMIA +nova\.test +1 +50\.00 +5\.00 +5\.00 EUR/,
  );
  const ofNova = await document('2026-06');
  expect(ofNova.text).toMatch(/Nova Ltd.*To pay 1 50\.00 5\.00 5\.00 EUR/);
  expect(ofNova.text).not.toMatch(/7\.00|Mia/);
  expect(ofNova.stderr).toMatch(/former creator.*--creator mia\.test/);
  const ofMia = await document('2026-06', '--creator', '@Mia.Test');
  expect(ofMia.text).toMatch(/Mia Müller.*To pay 0 -7\.00 -7\.00 EUR.*refunded or cancelled/);
  expect(ofMia.text).not.toMatch(/5\.00|Nova/);
  expect((await document('2026-05', '--language', 'de')).text).toMatch(
    /Mia Müller.*Konditionen Zeile 2: Deal DEALMIA.*7,00 EUR/,
  );
  const console = await startTestConsole(shop);
  const { get } = console;
  expect(await rowsOfDeal(console)).toEqual(ofBoth);
  const statementsOf = async (creator: string) => {
    const { text } = await get(`/creators/${creator}`);
    const [list = ''] = text.split('<h2>Statements</h2>')[1]?.split('<h2>') ?? [];
    return [...list.matchAll(/<tr data-row>.*?<\/tr>/gs)]
      .map(([row]) => `${textOf(row).replace(/closed .*? UTC /, '')}${/creator=[^&]+/.exec(row)?.[0] ?? ''}`)
      .filter((row) => row.includes('EUR'));
  };
  // Each creator is shown what was closed to them, and the payments of that.
  expect([await statementsOf('mia.test'), await statementsOf('nova.test')]).toEqual([
    [
      ' 2026-06 DEALMIA 0 -7.00 EUR proposed PDF creator=mia.test',
      ' 2026-05 DEALMIA 1 7.00 EUR proposed PDF ',
      ' 2026-04 DEALMIA 1 10.00 EUR proposed PDF ',
    ],
    [' 2026-06 DEALMIA 1 5.00 EUR proposed PDF '],
  ]);
  expect((await get('/statements/2026-06')).text).toContain(
    '/2026-06?deal=DEALMIA&amp;creator=mia.test&amp;download=pdf',
  );
  const page = async (more: string) =>
    textOf((await get(`/statements/2026-06/document?deal=DEALMIA${more}`)).text);
  expect(await page('')).toMatch(
    /former creator is corrected in a document of its own: mia\.test.*5\.00 EUR/,
  );
  expect(await page('&creator=mia.test')).toMatch(/mia\.test had the deal before.*-7\.00 EUR/);
  expect(await page('&creator=zoe.test')).toContain('corrects nothing of deal DEALMIA');
  expect((await document('2026-06', '--creator', 'zoe.test')).exitCode).toBe(2);

  // Each is sent their own by mail, once, to their own address.
  const server = await startMailServer();
  shop.write(
    'creators.csv',
    'deal_id,influencer_handle,name,email\nDEALMIA,,Nova Ltd,nova@mail.example\n,mia.test,Mia,mia@mail.example\n',
  );
  shop.write(
    'pipeline.yaml',
    `${config}notify: {channels: {mail: {kind: email, host: 127.0.0.1, port: ${server.port}, encryption: none, from: pay@shop.example, to: ops@shop.example}}, routes: [{problems: [doubts], channels: mail}]}\n`,
  );
  const send = async (...more: readonly string[]) =>
    (
      await shop.cli(
        ...['statement', 'send', '--month', '2026-06', '--deal', 'DEALMIA', '--reason', 'monthly', ...more],
      )
    ).exitCode;
  expect([await send(), await send(), await send('--creator', 'zoe.test')]).toEqual([0, 2, 2]);
  const mailing = await startTestConsole(shop);
  const shown = (await mailing.get('/statements/2026-06/document?deal=DEALMIA&creator=Mia.Test')).text;
  const form = {
    ...hiddenFields(shown, '/statements/send'),
    recipient: 'mia@mail.example',
    reason: 'monthly',
  };
  expect(form).toMatchObject({ creator: 'mia.test', after: '' });
  expect(textOf((await mailing.post('/statements/send', form)).text)).toContain(
    'The statement of 2026-06 for deal DEALMIA and its former creator mia.test is sent to its creator.',
  );
  await waitFor(async () => (await mailing.post('/statements/send', form)).status === 409);
  await waitFor(async () => server.mails.length === 2);
  expect([await send('--creator', '@MIA.test'), await send('--creator', 'mia.test', '--again')]).toEqual([
    2, 0,
  ]);
  expect(server.mails.map(({ to }) => to)).toEqual([
    ['nova@mail.example'],
    ['mia@mail.example'],
    ['mia@mail.example'],
  ]);
  expect((await shop.cli('statement', 'mails')).stdout).toMatch(
    /^Mail 3: 2026-06 for deal DEALMIA and its former creator mia\.test\./,
  );
});
