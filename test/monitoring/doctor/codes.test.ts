import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openConfig } from '../../../src/cli/open/open-config.ts';
import type { Finding } from '../../../src/core/finding.ts';
import { KnownError, type Problem } from '../../../src/core/known-error.ts';
import { CODES, openWorkshop, toCsv, type Workshop } from '../../runs/workshop.ts';
import { readEvents } from '../../support/run-cli.ts';
import { makeTestFolder } from '../../support/setup.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, sole_channel: true}
  mirror: {kind: mirror-account, autocomplete: false}
`;

const HEADER = 'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to';

/**
 * Each row contains one mistake: the row, and the column, value and part of the reason that must be reported.
 */
const MISTAKES: readonly (readonly [row: string, told: string])[] = [
  ['A1,48I9,mia.test,,,,', 'brand_id "48I9": The id of a brand must be a whole number.'],
  ['A2,,mia test,,,,', 'influencer_handle "mia test": A handle cannot contain blanks.'],
  ['A3,,mia.test,DEAL MIA,,,', 'deal_id "DEAL MIA": An id cannot contain blanks.'],
  ['A4,,mia.test,,,2026-05-01,2026-04-30', 'valid_to "2026-04-30": It ends before it begins'],
  ['A5,,mia.test,,,2026-05-01T00:00:00Z,2026-04-28', 'valid_to "2026-04-28": It ends before it begins'],
  ['A6,,mia.test', 'The row has 3 cells, and the header has 7.'],
  ['A7,48,19,mia.test,,,,', 'The row has 8 cells, and the header has 7.'],
  ['A8,,mia.test,,,01.05.2026,', 'valid_from "01.05.2026": This is not a readable date or time'],
  ['A9,,,,,,', 'influencer_handle A9 has no owner.'],
];

/**
 * Creates a configuration with these codes and returns the problems that every command reports before it
 * starts.
 */
function openCodes(): {
  readonly write: (name: string, content: string | Buffer) => void;
  problems(): Promise<readonly Problem[]>;
} {
  const folder = makeTestFolder();
  const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  write('pipeline.yaml', FLOW);
  const problems = async () => {
    try {
      await openConfig({ config: join(folder, 'pipeline.yaml') });
    } catch (error) {
      if (!(error instanceof KnownError)) throw error;
      const { exitCode, code, problems: told = [] } = error.details;
      expect([exitCode, code]).toEqual([2, 'config_invalid']);
      return told.map((problem) => ({ ...problem, where: problem.where.replace(`${folder}/`, '') }));
    }
    return [];
  };
  return { write, problems };
}

async function findingsOf(shop: Workshop): Promise<readonly Finding[]> {
  const events = readEvents(await shop.cli('doctor', '--json'));
  return events.filter(({ event }) => event === 'finding') as unknown as readonly Finding[];
}

describe('errors in codes.csv', () => {
  it('are reported by every command that posts before it reads anything, with line, column and value, together with those of pipeline.yaml', async () => {
    const { write, problems } = openCodes();
    const text = [HEADER, 'MIA10,,mia.test,,,,', ...MISTAKES.map(([row]) => row), ''].join('\n');
    write('codes.csv', text);
    const told = await problems();
    expect(told).toHaveLength(MISTAKES.length);
    for (const [index, [, part]] of MISTAKES.entries())
      expect(`${told[index]?.where} ${told[index]?.message}`).toMatch(`codes.csv:${index + 3} ${part}`);
    expect(told.every(({ help }) => help !== '')).toBe(true);
    write('pipeline.yaml', FLOW.replace('layout: generic', 'layout: genric'));
    expect(await problems()).toHaveLength(MISTAKES.length + 1);

    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
    shop.write('codes.csv', text);
    const run = await shop.cli('run', 'orders', '--json');
    expect(run.exitCode).toBe(2);
    expect(readEvents(run)).toMatchObject([
      { event: 'error', problems: told, safe: 'Nothing was read or sent.' },
    ]);
    expect(await shop.cli('status')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Warning: codes.csv:3'),
    });
    const findings = await findingsOf(shop);
    expect(findings.map(({ about, status }) => [about, status])).toEqual(
      MISTAKES.map(() => ['configuration', 'problem']),
    );
    expect(findings[0]?.what).toContain('codes.csv:3');
    expect(await shop.posted()).toEqual([]);
  });

  it('include a column that looks like a misspelt one, and a file that is not a list of codes', async () => {
    const { write, problems } = openCodes();
    write('codes.csv', 'code,influencer_handle,valid_form,note\nMIA10,mia.test,2026-05-01,new\n');
    expect(await problems()).toMatchObject([
      { where: 'codes.csv:1 valid_form', help: expect.stringContaining('Did you mean "valid_from"?') },
    ]);
    write('codes.csv', 'Rabattcode,influencer_handle\nMIA10,mia.test\n');
    expect(await problems()).toMatchObject([{ where: 'codes.csv:1' }]);
    write('codes.csv', Buffer.from('code,influencer_handle\nCAF\xc9,mia.test\n', 'latin1'));
    expect(await problems()).toMatchObject([
      { where: 'codes.csv', message: 'The file with the discount codes is not UTF-8.' },
    ]);
    const many = Array.from({ length: 50 }, (_, index) => `C${index},,,`).join('\n');
    write('codes.csv', `code,influencer_handle,deal_id,note\n${many}\n`);
    expect(await problems()).toHaveLength(21);
    expect((await problems()).some(({ message }) => message === '30 more rows cannot be used.')).toBe(true);
  });

  it('do not include rows padded by a spreadsheet and unknown columns with notes', async () => {
    const { write, problems } = openCodes();
    write('codes.csv', 'code,influencer_handle,note,\nMIA10,mia.test,,,\nBEN15,ben.test,"from May, on",,\n');
    expect(await problems()).toEqual([]);
    write('codes.csv', 'code,deal_id,influencer_handle\nMIA10,mia.test,D1,\nBEN15,D2,ben.test\n');
    expect(await problems()).toMatchObject([{ where: 'codes.csv:2' }]);
  });
});

describe('an owner that the mirror does not contain', () => {
  it('is reported by doctor, and by a run before it reads, and does not stop the run', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
    expect((await findingsOf(shop)).find(({ about }) => about === 'codes of orders')).toMatchObject({
      status: 'warning',
      what: '2 codes; their owners were not checked.',
    });
    expect((await shop.cli('plan', 'orders')).stdout).toMatch(
      /would be posted +1 .*; `npx influencer-sync codes` checks that\s+the service knows their owners/,
    );
    const first = await shop.run();
    expect(first.exitCode, first.stderr).toBe(0);
    const mirrored = await shop.cli('run', 'mirror', '--json');
    expect(mirrored.exitCode, mirrored.stderr).toBe(0);
    expect((await findingsOf(shop)).find(({ about }) => about === 'codes of orders')).toMatchObject({
      what: '2 codes; the mirror knows their owners.',
    });

    shop.write('codes.csv', `${CODES}MIA11,4818,mia.tst,,,,\nMIA12,,Mia.Test,,,,\n`);
    const told = (await findingsOf(shop)).filter(({ about }) => about === 'codes of orders');
    expect(told.map(({ status, what, fix }) => [status, what, fix])).toEqual([
      [
        'warning',
        'codes.csv line 4, brand_id "4818": The mirror knows no such brand.',
        'If it is new at the service, the next run of mirror-account finds it.',
      ],
      [
        'warning',
        'codes.csv line 4, influencer_handle "mia.tst": The mirror knows no such influencer with this handle.',
        'Did you mean "mia.test"? If it is new at the service, the next run of mirror-account finds it.',
      ],
    ]);
    const run = await shop.run();
    expect(run.exitCode).toBe(0);
    const notes = run.events.filter(({ event }) => event === 'note').map(({ message }) => message);
    expect(notes).toEqual(told.map(({ what, fix }) => `${what} ${fix}`));
  });

  it('is one of the mistakes of which doctor tells before a run: two owners, another brand or platform, terms that cannot be read', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('orders.csv', toCsv([{ id: 'o1' }]));
    expect((await shop.run()).exitCode).toBe(0);
    const config = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write(
      'pipeline.yaml',
      `${config.replace('brand_id: 4819', 'brand_id: 5120').replace('platform: shopify', 'platform: woo')}\nstatements: { terms: ./terms.csv }\n`,
    );
    const rows = ['MIA10,,,D1,,,', 'MIA10,,,D2,,2026-05-01,'];
    // One ends when the other begins, by the clock of UTC.
    const apart = ['BEN15,,,D3,,,2026-05-01T02:00:00+02:00', 'BEN15,,,D4,,2026-05-01,'];
    shop.write('codes.csv', [HEADER, ...rows, ...apart, ''].join('\n'));
    shop.write('terms.csv', 'deal_id,rate\nD1,ten\n');
    const found = (await findingsOf(shop)).filter(({ about }) =>
      /^(codes|brand|terms|source shop)/.test(about ?? ''),
    );
    expect(
      found
        .filter(({ status }) => status !== 'ok')
        .map(({ status, about, what }) => `${status}: ${about}: ${what}`),
    ).toEqual([
      expect.stringMatching(
        /^warning: terms: A row of the terms or exchange rates cannot be used\. \(terms\.csv:2 rate: /,
      ),
      'warning: codes of orders: codes.csv line 2, code "MIA10": Line 3 gives the code to another owner at the same time.',
      'warning: codes of orders: codes.csv line 3, code "MIA10": Line 2 gives the code to another owner at the same time.',
      'problem: brand of orders: orders has posted 1 order for brand 4819; its brand_id is now 5120.',
      'problem: source shop: The ledger knows orders of source shop with order_platform shopify; it is now woo.',
    ]);
    expect(await shop.run()).toMatchObject({ exitCode: 2 });
  });

  it('tells of credited orders that a source with days only may state again under another id', async () => {
    const second =
      '\n  pos: {uri: ./pos/, layout: generic, order_platform: pos, time_zone: Europe/Amsterdam}\njobs:';
    const flow = FLOW.replace('\njobs:', second).replace('source: shop,', 'source: [shop, pos],');
    const shop = await openWorkshop({ flow });
    shop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2', revenue: '11.00' }]));
    mkdirSync(join(shop.folder, 'pos'));
    const placedAt = '2026-04-10';
    shop.write(
      'pos/orders.csv',
      toCsv([
        { id: 'p1', placedAt },
        { id: 'p2', revenue: '12.00', placedAt },
      ]),
    );
    expect((await shop.run()).exitCode).toBe(0);
    const ofDays = async () =>
      (await findingsOf(shop)).filter(({ about, status }) => about === 'source pos' && status !== 'ok');
    expect(await ofDays()).toMatchObject([
      {
        what: 'Its orders have days and no times, and 1 credited one equals one of shop in code, amount and day.',
      },
    ]);
    const path = join(shop.folder, 'pipeline.yaml');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('platform: pos,', 'platform: pos, own_orders: true,'),
    );
    expect(await ofDays()).toEqual([]);
  });
});
