import { expect, it } from 'vitest';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

it('the console adds pasted claims, shows the answer to each with the next step, and gives the reply to a creator', async () => {
  const { shop } = await openConsoleShop();
  const { get, post } = await startTestConsole(shop);
  expect(textOf((await get('/claims')).text)).toContain('There are no claims.');
  const lines = [
    'creator,order_id,amount,currency,day,code',
    'mia.test,A1,,,,',
    'mia.test,A3,7.00,EUR,,NOBODY',
    'mia.test,A2,,,,',
    "<script>alert(1)</script>,A1,,,,'><img src=x>",
    'mia.test,,7.00,EUR,10.04.2026,',
  ].join('\r\n');
  const added = await post('/claims/add', {
    lines,
    deadline: '2026-05-31',
    reason: 'mail of the agency',
    return_to: '/claims',
  });
  expect(textOf(added.text)).toContain(
    'Added 4 claims; 0 lines were known already. These lines were not added. Line 6 day: This is not a day.',
  );
  const again = await post('/claims/add', { lines, deadline: '', reason: 'again', return_to: '/claims' });
  expect(textOf(again.text)).toContain('Added 0 claims; 4 lines were known already.');
  const page = await get('/claims?state=open');
  expect(textOf(page.text)).toMatch(/mia\.test order A1 Credited Credited to mia\.test .*12\.50 EUR/);
  expect(textOf(page.text)).toMatch(
    /order A2 No code or link of the creator In doubt: .*Settle it 2026-05-31 open/,
  );
  expect(page.text).toContain('/codes/assign?job=orders&amp;code=NOBODY');
  expect(page.text).not.toContain('<script>alert');
  // The filter has the words of the rows.
  expect(page.text).toContain('<option value="rejected">rejected</option>');
  const token = 'v'.repeat(32);
  const viewer = await startTestConsole(shop, { tokens: [{ name: 'vi', role: 'viewer', token }] });
  const asViewer = (await viewer.get('/claims', { authorization: `Bearer ${token}` })).text;
  expect(asViewer).not.toContain('<summary>Close</summary>');
  // Whoever adds a list that nobody can use is told why, and nothing is added.
  for (const [bad, why] of [
    ['mia.test,A1\n', 'Line 1 creator: The column is missing.'],
    ['creator,order_id\n', 'There is no line below the header.'],
  ] as const)
    expect(textOf((await post('/claims/add', { lines: bad, deadline: '', reason: 'x' })).text)).toContain(
      why,
    );

  expect((await get('/claims?creator=mia.test')).text).toContain('reply=csv');
  const kept = await post('/claims/reply', { creator: 'mia.test', reason: 'mia', return_to: '/claims' });
  expect(textOf(kept.text)).toContain(
    'Answered 2 claims of a creator. Still open, because their answers wait',
  );
  const csv = await get('/claims?creator=mia.test&reply=csv');
  expect(csv.text).toMatch(/1,answered,A1,,,,,credited,Credited to you .*12\.5000,EUR,2026-05,2/);
  expect(csv.text).toContain('3,answered,A2,,,,,no_code,');
  expect(csv.text).not.toContain('<script');
  expect((await get('/claims?creator=mia.test&reply=html')).text).toContain('Answer to your claims');
  const closed = await post('/claims/close', {
    claim: '2',
    state: 'upheld',
    reason: 'her code',
    return_to: '/claims?state=upheld',
  });
  expect(textOf(closed.text)).toMatch(
    /Claim 2 is upheld\..*order A3, code NOBODY Code unknown .* upheld her code/,
  );
  expect((await post('/claims/close', { claim: '2', state: 'upheld', reason: 'x' })).status).toBe(409);
});
