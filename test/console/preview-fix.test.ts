import { expect, it } from 'vitest';
import { HEADER, openWorkshop } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';

it('the preview of a fix predicts the orders and amounts that a run over the corrected rows credits', async () => {
  const shop = await openWorkshop();
  const rows = (time: string, amount: string) => `${HEADER}
B1,10.00,EUR,MIA10,${time},paid
B2,20.50,EUR,,${time},paid
B3,5.00,USD,MIA10,${time},paid
B4,${amount},EUR,MIA10,2026-04-10T11:11:26Z,paid
B5,7.00,EUR,MIA10,${time},paid
B6,7.00,Euro?,MIA10,${time},paid
OK,1.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
`;
  shop.drop('april.csv', rows('yesterday', '12.3x'));
  await shop.run();
  const { get } = await startTestConsole(shop);
  const effect = async (code: string) => {
    const { status, text } = await get(`/rejected?code=${code}&effect=yes`);
    expect(status).toBe(200);
    return textOf(text);
  };
  expect((await shop.cli('rejected')).stdout).toContain('6 rejected rows');
  const ofTimes = await effect('bad_time');
  expect(ofTimes).toContain('4 orders would be read. 3 of them carry a code');
  expect(ofTimes).toContain('Amounts of the orders that can be credited 17.00 EUR, 5.00 USD');
  const ofMoney = await effect('bad_money');
  expect(ofMoney).toContain('1 order would be read. 1 of them carries a code');
  expect(ofMoney).toContain('Amount unknown 1 order: the value at fault is the amount');
  expect(ofMoney).not.toContain('Stated by');
  // Its time is invalid as well.
  expect(await effect('bad_currency')).toMatch(/0 orders would be read.*Still rejected 1 row/);
  expect(textOf((await get('/rejected')).text)).not.toContain('would be read');

  shop.drop('corrected.csv', rows('2026-04-10T11:11:26Z', '12.30'));
  await shop.run();
  expect(await shop.posted()).toEqual(['B1', 'B3', 'B4', 'B5', 'OK']);
});
