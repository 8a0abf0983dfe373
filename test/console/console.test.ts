import { type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/console/access/password.ts';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { hiddenFields, toPreview } from './bulk-shop.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

/** Sends a request like a browser for which another site's name resolves to this machine. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode))
    .on('error', reject)
    .end();
  return promise;
}

/** Fetches a page without decompressing it. */
async function fetchCompressed(url: string, acceptEncoding: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url, { headers: { 'accept-encoding': acceptEncoding } }, resolve)
    .on('error', reject)
    .end();
  const response = await promise;
  const bytes = Buffer.concat(await Array.fromAsync<Buffer>(response));
  const encoding = response.headers['content-encoding'];
  const plain = encoding === 'br' ? brotliDecompressSync(bytes) : bytes;
  return { encoding, bytes, plain: plain.toString() };
}

describe('every page', () => {
  it('names on Home what waits for a person, with its money, and each sentence leads to exactly those orders', async () => {
    const { shop } = await openConsoleShop();
    shop.drop(
      'june.csv',
      toCsv([
        { id: 'A7', code: '"MIA10,BEN15"' },
        { id: 'A8', revenue: '4.00' },
        { id: 'A9', code: '"MIA10,BEN15"' },
        { id: 'A10', revenue: '5.00', currency: 'USD', code: 'NOBODY' },
      ]),
    );
    await shop.run();
    await sql`update intake.attributions set amount = null where order_id = 'A9'`.execute(shop.db);
    const { get, post } = await startTestConsole(shop);
    const { text } = await get('/');
    const tasks = [...text.matchAll(/<li class="task (\w+)".*?<\/li>/gs)].map(([task, severity]) => ({
      severity,
      said: textOf(task),
      href: /href="([^"]*)"/.exec(task)?.[1],
    }));
    expect(tasks.map(({ severity }) => severity)).toEqual([
      'error',
      ...Array.from({ length: tasks.length - 1 }, () => 'warning'),
    ]);
    const of = (title: string) => tasks.find(({ said }) => said.trim().startsWith(title));
    expect(tasks[0]?.said).toMatch(
      /In doubt 20\.00 EUR since .* 1 order of job orders is in doubt.* Look up and settle/,
    );
    // One thing leads to itself, several to their list.
    expect(tasks[0]?.href).toBe('/doubts?entry=2');
    expect(of('Orders held')?.said).toMatch(
      /Orders held at least 10\.00 EUR, 1 amount unknown since .* 2 orders of job orders .*: ambiguous codes\. The amount of 1 of them is not known\. They are not posted/,
    );
    expect(of('Orders held')?.href).toBe('/held?job=orders');
    expect(tasks.at(-1)?.said).toMatch(/Codes without an owner 10\.00 EUR, 5\.00 USD .* Give them an owner/);
    expect(textOf(text)).toContain(`${tasks.length} things to look at`);
    expect(text).toMatch(new RegExp(`aria-current="page">Home <span class="waits"[^>]*>${tasks.length}<`));
    // What Fix lists is counted there, and a day is the same day in every zone.
    expect(text).toMatch(/Creators <span class="waits"[^>]* hidden>0</);
    expect(textOf((await get('/fix?zone=America/New_York')).text)).toMatch(/5\.00 USD 2026-04-10 /);
    const fix = (await get('/fix')).text;
    await sql`
      insert into intake.check_findings (source_file_id, source, check_name, subject, verdict, seen, expected, message, line_nos, run_id)
      select 1, 'shop', 'median_value', n::text, 'warn', '4', '40', 'x', '{2}', 1 from generate_series(1, 40) n`.execute(
      shop.db,
    );
    // Its count is of all, of which the list has the first.
    expect(textOf((await get('/fix?kind=unusual+files')).text)).toMatch(/unusual files 42 /);
    expect(textOf(fix)).toMatch(
      /Orders of shop are held: ambiguous codes held orders 2 at least 10\.00 EUR, 1 amount unknown/,
    );
    expect(textOf(fix)).toMatch(/Decide about all \d+: at least [^<]* 1 amount unknown/);
    expect(fix).toMatch(/data-amount="10\.00 EUR" data-count="2" data-unknown>/);
    // A code in two currencies is one code.
    expect(textOf(fix)).toMatch(
      /NOBODY has no owner: 2 orders, .* without an owner 1 7\.00 EUR, 5\.00 USD 2026-04-10 /,
    );
    expect(fix).toContain('href="/held?job=orders&amp;source=shop&amp;why=ambiguous_codes"');
    expect(textOf((await get('/fix?kind=refused')).text)).toContain('Nothing of this kind waits.');
    // Several are decided kind by kind, each with a preview of its own; nothing that was chosen is left out unsaid.
    const boxes = [
      ...fix.matchAll(/name="chosen" value="(\w+)".*?<td[^>]*><span class="badge plain">([\w ]+)</g),
    ];
    const keyOf = (kind: string) => boxes.find(([, , of]) => of === kind)?.[1] ?? '';
    const chosen = ['in doubt', 'held orders', 'codes without an owner'].map(
      (kind) => `chosen=${keyOf(kind)}`,
    );
    const deciding = (await get(`/fix?${chosen.join('&')}&chosen=0000000000`)).text;
    expect(textOf(deciding)).toMatch(
      /1 line that you chose is not in the list any more.* You chose 3 kinds\. .* In doubt: 1, 20\.00 EUR .* Preview the 1 entry: 20\.00 EUR Held orders: 2, at least 10\.00 EUR, 1 amount unknown .* Exclude all 2 Codes without an owner: 1, .* Nothing here decides about them\./,
    );
    // The page after one decision has the others, and so has the page in another zone.
    for (const address of deciding.matchAll(/name="return_to" value="([^"]*)"/g))
      expect(address[1]?.replaceAll('&amp;', '&')).toContain(`/fix?${chosen.join('&')}&`);
    const zoned = /<form method="get"[^>]*aria-label="Zone of times">(.*?)<label>/s.exec(deciding)?.[1] ?? '';
    const kept = [...zoned.matchAll(/name="(\w+)" value="(\w+)"/g)].map(
      ([, name, value]) => `${name}=${value}`,
    );
    expect(kept).toEqual([...chosen, 'chosen=0000000000']);
    expect(textOf((await get(`/fix?${kept.join('&')}&zone=America/New_York`)).text)).toContain(
      'You chose 3 kinds.',
    );
    const all = textOf((await get('/fix?all=yes&kind=unusual+files')).text);
    expect(all).toMatch(
      /Unusual files: 42 .* The first 25 of 42 lines are shown\. .* Acknowledge 42 findings/,
    );
    const preview = toPreview(
      await post('/bulk/preview', [
        ...Object.entries(hiddenFields(deciding, '/bulk/preview')),
        ...Object.entries({ scope: 'all', decision: 'write_off', reason: 'looked up' }),
      ]),
    );
    expect(preview.text).toMatch(/Chosen Entries in doubt because .* Write off 1 entry: 20\.00 EUR/);
    const held = textOf((await get('/held?job=orders')).text);
    expect(held).toContain('ambiguous codes 2 at least 10.00 EUR, 1 order unknown');
  });

  it('counts rejected rows on Home up to 10,000', async () => {
    const shop = await openWorkshop();
    shop.drop('may.csv', toCsv([{ id: 'A1', revenue: 'many' }]));
    await shop.run();
    const { get } = await startTestConsole(shop);
    const reject = (from: number, to: number) =>
      sql`
      insert into intake.rejected_rows (source_file_id, line_no, record_no, code, reason, help, run_id)
      select r.source_file_id, n, n, r.code, r.reason, r.help, r.run_id
      from intake.rejected_rows r, generate_series(${from}::bigint, ${to}::bigint) n where r.record_no = 1`.execute(
        shop.db,
      );
    const countShown = async () =>
      /<p>([\d,+]+) rows? of (?:a file|files) could not be used/.exec((await get('/')).text)?.[1];
    expect(await countShown()).toBe('1');
    // They wait since then, also when a later run rejects none.
    await sql`update intake.source_files set first_seen_at = '2026-03-04T05:06:07Z'`.execute(shop.db);
    shop.drop('june.csv', toCsv([{ id: 'A2' }]));
    await shop.run();
    expect((await get('/')).text).toMatch(
      /<strong>Rows rejected<\/strong>.*?since <time datetime="2026-03-04T05:06:07/,
    );
    await reject(2, 10_000);
    expect(await countShown()).toBe('10,000');
    await reject(10_001, 10_005);
    expect(await countShown()).toBe('10,000+');
  });

  it('lets a browser load from and send to this server only', async () => {
    const { url } = await startTestConsole((await openConsoleShop()).shop);
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    );
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe/);
    // A long id leads to a page as well, and not to the answer of a program.
    const long = await fetch(`${url}/orders/shop/${'9'.repeat(300)}`);
    expect([long.status, await long.text()]).toEqual([404, expect.stringContaining('<h1>Order 9')]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is compressed as the browser requests, below 50 kB, while events are not', async () => {
    const { shop, paths } = await openConsoleShop();
    const { url } = await startTestConsole(shop);
    for (const path of ['/assets/console.css', ...paths]) {
      const { encoding, bytes, plain } = await fetchCompressed(`${url}${path}`, 'br');
      expect([path, encoding]).toEqual([path, 'br']);
      expect(bytes.byteLength).toBeLessThan(50_000);
      expect(plain).toMatch(path.startsWith('/assets') ? /body/ : /<\/html>\s*$/);
    }
    expect((await fetchCompressed(`${url}/`, 'gzip')).encoding).toBe('gzip');
    expect((await fetchCompressed(`${url}/`, 'identity')).encoding).toBeUndefined();
    const events = await fetch(`${url}/live`, { headers: { 'accept-encoding': 'br' } });
    expect(events.headers.get('content-encoding')).toBeNull();
    const first = await events.body?.getReader().read();
    expect(new TextDecoder().decode(first?.value)).toBe('retry: 2000\n\n');
  });

  it('works below a base path', async () => {
    const { get } = await startTestConsole((await openConsoleShop()).shop, { basePath: '/influencers' });
    const { status, text } = await get('/influencers/');
    expect(status).toBe(200);
    const links = [...text.matchAll(/(?:href|src|action|data-live)="([^"]*)"/g)].map(
      ([, link]) => link ?? '',
    );
    expect(links.filter((link) => !/^(\/influencers\/|#)/.test(link))).toEqual([]);
    expect((await get('/influencers/assets/console.css')).status).toBe(200);
  });
});

describe('numbers and times', () => {
  it('equal those of the commands', async () => {
    const { shop } = await openConsoleShop();
    const { get } = await startTestConsole(shop);
    const status = (await shop.cli('status')).stdout;
    expect(status).toMatch(/in doubt\s+1\s+20\.00 EUR/);
    const home = textOf((await get('/')).text);
    expect(home).toMatch(/In doubt 20\.00 EUR since/);
    expect(home).toMatch(/12\.50 EUR, 1 order (?!until)/);
    // The words of the page and those of the program both filter, in any case.
    for (const query of ['disposition=unattributed', 'outcome=no+owner', 'outcome=No_Owner']) {
      const orders = textOf((await get(`/orders?${query}`)).text);
      expect(orders).toMatch(/2 orders, newest first/);
      expect(orders).toContain('NOBODY');
    }
    expect(textOf((await get('/orders?deal=dealmia&job=ORDERS&source=Shop')).text)).toContain(
      '1 order, newest',
    );
    // A column that is empty in every row is left out.
    const unowned = textOf((await get('/orders?outcome=no+owner')).text);
    expect(unowned).toMatch(/Order Ordered Outcome By Amount Source/);
    // What narrows the list is counted, and leads back when it is chosen.
    const facets = (await get('/orders')).text;
    expect(textOf(facets)).toMatch(/Narrow down creator ben\.test 1 mia\.test 1 code .*NOBODY 1/);
    expect(facets).toContain('href="/orders?creator=mia.test">mia.test <small>1<');
    const narrowed = (await get('/orders?creator=Mia.Test&code=mia10')).text;
    expect(textOf(narrowed)).toMatch(/creator Mia\.Test code mia10 1 order, newest first/);
    expect(narrowed).toContain('href="/orders?creator=Mia.Test" aria-current="true">mia10<');
    // A facet leads to the orders that it counts, and not to those of a longer code.
    expect(facets).toContain('href="/orders?code_is=MIA10">MIA10 <small>1<');
    expect(textOf((await get('/orders?code_is=mia10')).text)).toContain(' code mia10 1 order, newest first');
    expect(textOf((await get('/orders?code=nobod')).text)).toContain('1 order, newest first');
    expect(textOf((await get('/orders?code_is=nobod')).text)).toContain('Nothing matches this filter.');
    expect((await get('/codes/assign?job=orders&code=NOBODY')).text).toContain('href="/orders/shop/A3"');
    expect((await get('/codes/assign?job=orders&code=NOBOD')).text).not.toContain('href="/orders/shop/A3"');
    const month = (await get('/orders?from=2026-04-01&to=2026-04-30')).text;
    expect(month).toContain('href="/orders" aria-current="true">2026-04<');
    for (const path of ['/deals/dealmia', '/orders/shop/a1']) expect((await get(path)).status).toBe(200);
    const explained = (await shop.cli('explain', 'order', 'A1')).stdout;
    expect(explained).toContain('deal DEALMIA');
    // The page and the command answer with the same sentence.
    for (const [order, answer] of [
      ['A1', /^Credited to mia\.test \(deal DEALMIA\) on \d{4}-\d\d-\d\d: 12\.50 EUR\.$/],
      ['A2', /^In doubt: it was sent for ben\.test \(deal DEALBEN\): 20\.00 EUR, but no answer says whether/],
      [
        'A3',
        /^Not credited: no creator owns the code NOBODY\. Add its owner to codes\.csv, or assign it in the console\.$/,
      ],
      [
        'A4',
        /^Not credited: it carries no code, link or name of a creator\. Nothing to do: if a later export states/,
      ],
    ] as const) {
      const said = textOf(
        /<div class="answer \w+"><p>(.*?)<\/p>/.exec((await get(`/orders/shop/${order}`)).text)?.[1] ?? '',
      );
      expect(said).toMatch(answer);
      expect((await shop.cli('explain', 'order', order)).stdout.replaceAll(/\s+/g, ' ')).toContain(said);
    }
    expect((await get('/orders/shop/A2')).text).toContain('href="/doubts?entry=2">Settle it</a>');
    // What may have been credited comes before what its export says by now.
    await sql`update intake.attributions set outcome = 'held', reason = 'unknown_status', target = null where order_id = 'A2'`.execute(
      shop.db,
    );
    expect(textOf((await get('/orders/shop/A2')).text)).toContain('In doubt: it was sent for ben.test');
    // Within a day, an order placed later comes first, also across pages.
    await sql`update reporting.order_dispositions set ordered_at = date_trunc('minute', ordered_at) + interval '1 microsecond' where order_id = 'A4'`.execute(
      shop.db,
    );
    const listed = async (query: string) =>
      [...(await get(`/orders${query}`)).text.matchAll(/orders\/shop\/(A\d)"/g)].map(([, id]) => id);
    expect((await listed('')).at(-1)).toBe('A4');
    const key = (at: string) => `?after=${encodeURIComponent(JSON.stringify([at, 'orders', 'shop', 'A1']))}`;
    expect(await listed(key('2026-04-10T11:11:00.000002Z'))).toEqual(['A4']);
    expect(await listed(key('2026-04-10T11:11:00.000001Z'))).toEqual([]);
    expect((await get('/search?q=a3')).url).toMatch(/\/orders\/shop\/A3$/);
    expect(textOf((await get('/creators')).text)).toMatch(/ 1 12\.50 EUR unknown/);
    const mia = textOf((await get('/creators/Mia.Test')).text);
    expect((await get('/creators/Mia.Test')).text).toMatch(
      /href="\/creators\/Mia\.Test#unknown">See what .* id="unknown"/s,
    );
    expect(mia).toMatch(/Net revenue 12\.50 EUR .* In open statements unknown .* MIA10 always .* Deals/);
    // What the service does not state is not 0.
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, platform, brand_id, dealflow_id, is_active, funnel_step, total_clicks,
        total_referrals, total_sales, total_payouts, total_commission_earned, total_fixed_fee_earned, raw, row_hash, valid_from, is_latest,
        first_seen_at, run_id)
      select id, 'mia.test', 'tiktok', '1', 'D_1', true, 1, clicks, 0, 0, payouts, clicks, payouts, '{}', '', '2026-03-01', true, '2026-03-01', 1
      from (values ('DEAL1', null, null), ('DEAL2', 5, 7)) v (id, clicks, payouts)`.execute(shop.db);
    expect(textOf((await get('/creators/mia.test')).text)).toMatch(
      /Paid out at least 7\.00 .* Clicks at least 5 the service's count/,
    );
    // Nor is what it counts what a statement says.
    for (const [deal, counted] of [
      ['DEAL1', 'unknown'],
      ['DEAL2', '5 + 7'],
    ] as const)
      expect(textOf((await get(`/deals/${deal}`)).text)).toContain(
        `Commission and fees, the service's count ${counted} in the currency of the account`,
      );
    await sql`update reporting.return_months set influencer_handle = '@mia.test'`.execute(shop.db);
    expect(textOf((await get('/creators/mia.test')).text)).toMatch(
      /Net revenue 12\.50 EUR after refunds, of 1 order .* 2026-04 1 12\.50 EUR/,
    );
    // A handle whose lower case depends on the locale of the database, and which contains a blank.
    const own = (handle: string, folded: string) =>
      sql`update intake.codes set influencer_handle = ${handle}, handle_folded = ${folded} where deal_id = 'DEALMIA'`.execute(
        shop.db,
      );
    await own('ÉVA Rosé', 'évarosé');
    await sql`update reporting.return_months set influencer_handle = 'ÉVA Rosé'`.execute(shop.db);
    await sql`update reporting.deal_totals set influencer_handle = 'ÉVA Rosé'`.execute(shop.db);
    for (const path of [
      '/creators/%C3%89VA%20Ros%C3%A9',
      '/creators/@%C3%A9varos%C3%A9',
      '/search?q=%C3%A9va',
    ])
      expect(textOf((await get(path)).text), path).toContain('Net revenue 12.50 EUR');
    await own('mia.test', 'mia.test');
    const found = textOf((await get('/search?q=mia')).text);
    expect(found).toMatch(/mia\.test creator MIA10 code mia\.test/);
    expect((await get('/search?q=nobody')).url).toMatch(/\/codes\/assign\?code=NOBODY$/);
    // An order is found by its name without the #; the run of that number is another result.
    await sql`update intake.orders set order_name = '#1' where order_id = 'A1'`.execute(shop.db);
    expect(textOf((await get('/search?q=1')).text)).toMatch(/#1 order shop 1 run orders/);
    expect((await get('/search?q=mi&suggest=yes')).text.split('\n')).toContain('MIA10');
    // A deal is found by its creator, whom the suggestion names.
    expect((await get('/search?q=mi&kind=deal&suggest=yes')).text).toMatch(/^DEALMIA\tmi/m);
    expect(textOf((await get('/orders?order=A1')).text)).toMatch(
      /Order A1 .* credited .* 12\.50 EUR .* DEALMIA/,
    );
  });

  it('are shown in the selected time zone, which the page names once, with UTC in the tooltip', async () => {
    const { get } = await startTestConsole((await openConsoleShop()).shop);
    const { text } = await get('/orders?zone=Asia/Tokyo');
    expect(text).toMatch(/title="2026-04-10 11:11 UTC">10 Apr( 2026)? 20:11<\/time>/);
    expect(textOf(text)).toContain('Times are in Asia/Tokyo.');
    expect(text).toContain('href="/runs?zone=Asia%2FTokyo"');
    expect((await get('/orders?zone=Nowhere')).status).toBe(200);
  });
});

describe('access to the console', () => {
  it('without sign-in is limited to this machine and its own host name', async () => {
    const { shop } = await openConsoleShop();
    const { get, url } = await startTestConsole(shop);
    expect((await get('/')).status).toBe(200);
    expect(await statusFor(url, 'evil.example')).toBe(403);
    await expect(startTestConsole(shop, {}, { host: '0.0.0.0' })).rejects.toMatchObject({
      details: { code: 'console_auth_missing', exitCode: 2 },
    });
  });

  it('requires a name and a password, and limits wrong attempts', async () => {
    const passwordHash = await hashPassword('correct horse battery', { N: 2 ** 12, r: 8, p: 1 });
    const { get } = await startTestConsole((await openConsoleShop()).shop, {
      users: [
        { name: 'ann', role: 'viewer', passwordHash },
        { name: 'ben', role: 'viewer', passwordHash },
        { name: 'cleo', role: 'viewer', passwordHash },
      ],
    });
    const basic = (name: string, password: string) => ({
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    });
    expect((await get('/')).status).toBe(401);
    expect((await get('/assets/console.css')).status).toBe(401);
    const signedIn = await get('/', basic('ann', 'correct horse battery'));
    expect(textOf(signedIn.text)).toContain('Signed in as ann (viewer)');
    // Attempts at the same time are counted before they are checked.
    const tries = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => (await get('/', basic('ann', `wrong ${index}`))).status),
    );
    expect(tries.filter((status) => status === 401)).toHaveLength(5);
    expect(tries.filter((status) => status === 429)).toHaveLength(35);
    // One password in several requests at the same time is one attempt.
    const atOnce = await Promise.all(
      Array.from({ length: 8 }, async () => (await get('/', basic('ben', 'correct horse battery'))).status),
    );
    expect(atOnce).toEqual(Array.from({ length: 8 }, () => 200));
    // Another user behind the same address is not locked out, nor is one who has signed in before.
    expect((await get('/', basic('cleo', 'correct horse battery'))).status).toBe(200);
    expect((await get('/', basic('ann', 'correct horse battery'))).status).toBe(200);
    // Guesses of many names from one address are limited as well.
    const names = Array.from({ length: 30 }, (_, index) => `nobody${index}`);
    const guesses = await Promise.all(names.map(async (name) => (await get('/', basic(name, 'x'))).status));
    expect(guesses.filter((status) => status === 429)).toHaveLength(5);
  });

  it('is granted to programs by their token, and to the user header of a trusted proxy only', async () => {
    const { shop } = await openConsoleShop();
    const token = 't'.repeat(32);
    const byToken = await startTestConsole(shop, { tokens: [{ name: 'robot', role: 'viewer', token }] });
    expect((await byToken.get('/', { authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await byToken.get('/', { authorization: 'Bearer wrong' })).status).toBe(401);

    const proxy = {
      header: 'X-Forwarded-User',
      operators: ['ann'],
      marketing: ['ben'],
      trusted: ['127.0.0.0/8'],
    };
    const behind = await startTestConsole(shop, { proxy });
    expect(textOf((await behind.get('/', { 'x-forwarded-user': 'ann' })).text)).toContain('ann (operator)');
    expect(textOf((await behind.get('/', { 'x-forwarded-user': 'ben' })).text)).toContain('ben (marketing)');
    // Somebody of whom the configuration says nothing.
    expect(textOf((await behind.get('/', { 'x-forwarded-user': 'eve' })).text)).toContain('eve (viewer)');
    expect((await behind.get('/')).status).toBe(401);
    const elsewhere = await startTestConsole(shop, { proxy: { ...proxy, trusted: ['10.0.0.0/8'] } });
    expect((await elsewhere.get('/', { 'x-forwarded-user': 'ann' })).status).toBe(401);
  });
});
