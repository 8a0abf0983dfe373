import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/core/text/language.ts';
import { STATEMENT_TEXTS } from '../../src/reports/money/statement-texts.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { pdfText } from '../support/pdf-text.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements:
  terms: ./terms.csv
  return_window_days: 30
  time_zone: Europe/Amsterdam
  creators: ./creators.csv
  sender: {name: Saffi Paints B.V., address: [Gracht 1, 1011 AB Amsterdam, pay@saffi.example], logo: ./logo.png}
`;
const TERMS = `deal_id,code,rate,fixed_fee,currency,valid_from,valid_to
DEALMIA,,10,200,EUR,2026-03-01,
`;
const CREATORS = `influencer_handle;name;address;email;language
@Mia.Test;Mia Müller;"Weg 2; 10115 Berlin";mia@mail.example;de
`;

/** A PNG of one transparent pixel. */
function png(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0]);
  const pixel = deflateSync(Buffer.from([0, 255, 0, 0, 128]));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    ...[chunk('IHDR', header), chunk('IDAT', pixel), chunk('IEND', Buffer.alloc(0))],
  ]);
}

function orders(...rows: readonly string[]): string {
  return `${[HEADER, ...rows.map((row) => `${row.replace('@', 'T10:30:00Z')},paid`)].join('\n')}\n`;
}

/** April is closed. Since then, one of its orders was refunded in part; another order is pending in May. */
async function openCorrected(): Promise<Workshop> {
  const shop = await openWorkshop({ flow: FLOW });
  shop.write('terms.csv', TERMS);
  shop.write('creators.csv', CREATORS);
  writeFileSync(join(shop.folder, 'logo.png'), png());
  shop.drop(
    'orders.csv',
    orders(
      'A1,1234.50,EUR,MIA10,2026-03-01@',
      'A2,33.33,EUR,MIA10,2026-03-20@',
      'B1,80.00,EUR,BEN15,2026-03-02@',
    ),
  );
  await shop.run();
  await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
  shop.drop('later.csv', orders('A1,1000.00,EUR,MIA10,2026-03-01@', 'A5,50.00,EUR,MIA10,2026-05-10@'));
  await shop.run();
  await sql`update intake.orders set order_name = '#1002' where order_id = 'A2'`.execute(shop.db);
  return shop;
}

describe('the statement for a creator', () => {
  it('is one document for PDF, page and console: sender, addressee, lines, corrections and what is pending, in their language', async () => {
    const shop = await openCorrected();
    const print = (month: string, format: string, ...more: readonly string[]) =>
      shop.cli('statement', '--month', month, '--deal', 'DEALMIA', '--format', format, ...more);
    const april = await print('2026-04', 'pdf');
    const text = pdfText(april.stdoutBytes);
    for (const part of [
      ...['Saffi Paints B.V.', 'Gracht 1', 'pay@saffi.example', 'Mia Müller', 'Weg 2', '10115 Berlin'],
      ...['Abrechnung für April 2026', '01.03.2026', '#1002', '1.234,50', '10 %', '123,45', '3,33'],
      ...['Festes Honorar', '200,00 EUR', '326,78 EUR'],
    ])
      expect(text.join('\n')).toContain(part);
    expect(text.join(' ')).not.toMatch(/BEN|ben\.test|B1|influencer-sync/);
    expect(text.join(' ').replaceAll(/\s+/g, ' ')).toContain(
      'Sie ist keine Rechnung und keine Steuerberatung.',
    );
    expect(april.stdoutBytes.toString('latin1')).toMatch(/\/MediaBox \[0 0 595\.28 841\.89\]/);
    expect(april.stdoutBytes.toString('latin1')).toContain('/Subtype /Image');
    expect((await print('2026-04', 'pdf')).stdoutBytes.equals(april.stdoutBytes)).toBe(true);

    // The only row of the terms is above the lines, in words, so they need no column for it.
    const aprilPage = (await print('2026-04', 'html')).stdout;
    expect(aprilPage).not.toContain(`<th scope="col">${STATEMENT_TEXTS.de.terms}</th>`);
    expect(textOf(aprilPage)).toContain(
      'Konditionen Zeile 2: Deal DEALMIA, 10 % vom Nettoumsatz, einmalig 200,00 EUR, ab 01.03.2026 ',
    );

    const page = (await print('2026-05', 'html')).stdout;
    const may = textOf(page);
    expect(page).toContain('<html lang="de-DE">');
    expect(page).toMatch(/<img src="data:image\/png;base64,/);
    expect(may).toContain('Entwurf: Die Beträge können sich noch ändern.');
    expect(may).toMatch(
      /Korrekturen .* A1 123,45 100,00 -23,45 EUR erstattet oder storniert: Nettoumsatz 1\.234,50, jetzt 1\.000,00/,
    );
    expect(may).toMatch(/Ausstehend .* 1 50,00 EUR 5,00 EUR/);
    const inEnglish = textOf((await print('2026-05', 'html', '--language', 'en')).stdout);
    expect(inEnglish).toMatch(/refunded or cancelled: net revenue 1,234\.50, now 1,000\.00/);

    const { get, url } = await startTestConsole(shop);
    const shown = textOf((await get('/statements/2026-05/document?deal=DEALMIA')).text);
    const body = may.slice(may.indexOf('Entwurf:'), may.indexOf('Umsatzsteuer'));
    expect(shown).toContain(body);
    expect(shown).toContain('Mia Müller');
    const closed = await get('/statements/2026-04/document?deal=DEALMIA&language=en');
    expect(textOf(closed.text)).toMatch(/German .*French .* 33\.33 10% 3\.33 EUR/);
    const saved = await fetch(`${url}/statements/2026-04?deal=DEALMIA&download=pdf`);
    expect(Buffer.from(await saved.arrayBuffer()).equals(april.stdoutBytes)).toBe(true);
    expect((await get('/statements/2026-04/document?deal=NONE')).status).toBe(404);
    expect((await print('2026-04', 'html', '--deal', 'NONE')).exitCode).toBe(2);
    // The orders of an open month before a closed one are in that, and are not shown as to be paid once more.
    const march = [await print('2026-03', 'html'), await print('2026-03', 'table')];
    for (const { exitCode, stdout, stderr } of march)
      expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining('2026-04 is closed')]);
    for (const path of ['/statements/2026-03', '/statements/2026-03/document?deal=DEALMIA'])
      expect(textOf((await get(path)).text)).toContain('The statement of 2026-04 is closed, and it includes');
    expect(text.join(' ')).toContain('die bis Ende April 2026 zählten');
    // What was closed stays as it was sent, whatever the terms say now.
    shop.write('terms.csv', 'deal_id,rate\nOTHER,10\n');
    expect((await print('2026-04', 'pdf')).stdoutBytes.equals(april.stdoutBytes)).toBe(true);
    // The day of closing is that of the time zone of the statement.
    await sql`alter table ops.statements disable trigger user`.execute(shop.db);
    await sql`update ops.statements set closed_at = '2026-05-01T22:30:00Z'`.execute(shop.db);
    expect(textOf((await print('2026-04', 'html')).stdout)).toContain('Abgeschlossen am 02.05.2026');
  });

  it('is refused with the file and the line if it may go to somebody else, or the logo is broken; never guessed', async () => {
    const shop = await openCorrected();
    const print = () => shop.cli('statement', '--month', '2026-04', '--deal', 'DEALMIA', '--format', 'html');
    const rows = [
      'DEALMIA,,Mia,,m\u0001ia@mail.example,',
      'DEALMIA,,Mia,,mia,',
      'DEALMIA,mia.test,Mia,,,',
      ',,Mia,,,',
      'DEALMIA,,Mia,,,xx',
    ];
    for (const row of rows) {
      shop.write('creators.csv', `deal_id,influencer_handle,name,address,email,language\n${row}\n`);
      const { exitCode, stderr } = await print();
      expect([row, exitCode, stderr.includes('creators.csv:2')]).toEqual([row, 2, true]);
    }
    shop.write('creators.csv', 'deal_id,name\nDEALMIA,A\nDEALMIA,B\n');
    expect((await print()).stderr).toContain('creators.csv:3');
    // Nobody wrote a name, so it is the handle, in the language of the settings.
    shop.write('creators.csv', 'deal_id,name\nOTHER,A\n');
    expect(textOf((await print()).stdout)).toContain('@mia.test Statement for April 2026');
    shop.write('logo.png', png().toString('latin1').slice(0, 50));
    const broken = await print();
    expect([broken.exitCode, broken.stderr]).toEqual([2, expect.stringContaining('logo.png')]);
  });

  it('has every text in every language', () => {
    const { title, mailSubject } = STATEMENT_TEXTS.fr;
    expect([title('avril 2026'), mailSubject('Acme', 'mai 2026')]).toEqual([
      'Relevé d’avril 2026',
      'Acme : votre relevé de mai 2026',
    ]);
    for (const language of LANGUAGES) {
      const { termsIn, ...others } = STATEMENT_TEXTS[language];
      const texts = Object.entries({ ...others, ...termsIn }).map(([name, text]) => [
        name,
        typeof text === 'function' ? (text as (...values: unknown[]) => string)('ONE', 'TWO', 'SIX') : text,
      ]);
      for (const [name = '', text = ''] of texts) expect([language, name, text.trim()]).not.toContain('');
      // Only names that the language shares with English are the same.
      const english = Object.values(STATEMENT_TEXTS.en);
      const same = texts.filter(([, text = '']) => text.length > 12 && english.includes(text));
      expect([language, language === 'en' ? [] : same]).toEqual([language, []]);
    }
  });
});
