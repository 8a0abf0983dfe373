import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import { startBulkWorker } from '../../src/console/bulk-worker.ts';
import { listAudit } from '../../src/reports/list-audit.ts';
import { listStatementMails } from '../../src/reports/money/statement-mails.ts';
import { hiddenFields } from '../console/bulk-shop.ts';
import { startTestConsole, textOf } from '../console/console-server.ts';
import { startMailServer } from '../monitoring/notify/smtp-receiver.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { findFreePort } from '../support/free-port.ts';
import { waitFor } from '../support/wait-for.ts';

const SEND = ['statement', 'send', '--month', '2026-04', '--deal', 'DEALMIA', '--reason', 'monthly'] as const;

/** A shop with a closed month, and a mail server on a port. */
async function openClosed(port: number): Promise<Workshop> {
  const shop = await openWorkshop({
    flow: `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
statements: {terms: ./terms.csv, creators: ./creators.csv, sender: {name: "Saffi, Paints", reply_to: creators@saffi.example}}
notify:
  channels:
    mail: {kind: email, host: 127.0.0.1, port: ${port}, encryption: none, from: pay@saffi.example, to: ops@saffi.example}
  routes: [{problems: [doubts], channels: mail}]
`,
  });
  shop.write('terms.csv', 'deal_id,rate\nDEALMIA,10\n');
  shop.write('creators.csv', 'deal_id,name,email,language\nDEALMIA,Mia,mia@mail.example,nl\n');
  shop.drop('orders.csv', `${HEADER}\nA1,100.00,EUR,MIA10,2026-03-01T10:30:00Z,paid\n`);
  await shop.run();
  await shop.cli('statement', 'close', '--month', '2026-04', '--reason', 'paid out');
  return shop;
}

/** What the table keeps of the mails, oldest first. */
async function kept({ db }: Workshop): Promise<readonly unknown[]> {
  const { rows } = await sql<{ kept: unknown }>`
    select jsonb_build_array(state, failure, recipient, message is null) as kept from ops.statement_mails order by mail_id`.execute(
    db,
  );
  return rows.map((row) => row.kept);
}

describe('sending a statement by mail', () => {
  it('sends the document once to the address that people wrote, keeps no address, and sends it again only if asked to', async () => {
    const server = await startMailServer();
    const shop = await openClosed(server.port);
    const first = await shop.cli(...SEND);
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('the mail server took it')]);
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'pay@saffi.example', to: ['mia@mail.example'] });
    expect(mail?.source).toMatch(/^From: "Saffi, Paints" <pay@saffi\.example>\r$/m);
    expect(mail?.source).toMatch(/^Reply-To: creators@saffi\.example\r$/m);
    expect(mail?.source).toMatch(/^Subject: Saffi, Paints: uw afrekening van april 2026\r$/m);
    const [, encoded = ''] =
      /filename=statement-2026-04\.pdf[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(mail?.source ?? '') ?? [];
    const pdf = Buffer.from(encoded, 'base64');
    const [listed] = await listStatementMails(shop.db, { limit: 1 });
    expect(listed).toMatchObject({ state: 'sent', language: 'nl', dealId: 'DEALMIA' });
    expect(createHash('sha256').update(pdf).digest('hex')).toBe(listed?.documentHash);
    const printed = await shop.cli(
      ...['statement', '--month', '2026-04', '--deal', 'DEALMIA', '--format', 'pdf'],
    );
    expect(printed.stdoutBytes.equals(pdf)).toBe(true);
    expect(await kept(shop)).toEqual([['sent', null, null, true]]);
    expect(JSON.stringify([await listAudit(shop.db, { limit: 9 }), first])).not.toContain('mia@mail');
    expect((await listAudit(shop.db, { limit: 1 }))[0]).toMatchObject({
      action: 'send_statement',
      subject: '2026-04',
      reason: 'monthly',
      bulkId: null,
      after: { deal: 'DEALMIA', sha256: listed?.documentHash },
    });

    const second = await shop.cli(...SEND);
    expect([second.exitCode, second.stderr]).toEqual([2, expect.stringContaining('add --again')]);
    expect((await shop.cli(...SEND, '--again', '--dry-run')).exitCode).toBe(0);
    expect(server.mails).toHaveLength(1);
    expect((await shop.cli(...SEND, '--again', '--to', 'other@mail.example')).exitCode).toBe(0);
    expect((await listAudit(shop.db, { limit: 1 }))[0]?.summary).toContain(
      'is sent to an address that was typed',
    );
    expect(server.mails.map(({ to }) => to)).toEqual([['mia@mail.example'], ['other@mail.example']]);
    for (const to of [
      'mia',
      'a@b.example, c@d.example',
      'a@b.example\r\nBcc: x@y.example',
      'a\u0001b@c.example',
      '.a@c.example.',
      'a@@c',
    ])
      expect([to, (await shop.cli(...SEND, '--again', '--to', to)).exitCode]).toEqual([to, 2]);
    const open = await shop.cli(
      'statement',
      'send',
      '--month',
      '2026-05',
      '--deal',
      'DEALMIA',
      '--reason',
      'x',
    );
    expect([open.exitCode, open.stderr]).toEqual([2, expect.stringContaining('not closed')]);

    // In the console, the same page sent eight times at once is one mail, to the address that the page showed.
    const { get, post } = await startTestConsole(shop);
    const page = (await get('/statements/2026-04/document?deal=DEALMIA')).text;
    expect(textOf(page)).toContain('Send it again');
    const [, recipient = ''] = /name="recipient" value="([^"]*)"/.exec(page) ?? [];
    expect(recipient).toBe('mia@mail.example');
    shop.write('creators.csv', 'deal_id,name,email,language\nDEALMIA,Mia,changed@mail.example,nl\n');
    const form = { ...hiddenFields(page, '/statements/send'), recipient, reason: 'lost' };
    expect((await post('/statements/send', { ...form, recipient: '' })).status).toBe(400);
    expect((await post('/statements/send', { ...form, after: '' })).status).toBe(409);
    expect((await post('/statements/send', { ...form, deal: 'DEAL\u0000MIA' })).status).toBe(400);
    const all = await Promise.all(
      Array.from({ length: 8 }, async () => (await post('/statements/send', form)).status),
    );
    expect(all.toSorted()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
    await waitFor(async () => (await kept(shop)).length === 3 && server.mails.length === 3);
    expect(server.mails[2]?.to).toEqual(['mia@mail.example']);

    // A closed statement is that of the creator who had the deal when it was closed, whoever has the deal or its orders now.
    shop.write(
      'creators.csv',
      'influencer_handle,name,email\nmia.test,Mia,mia@mail.example\neva.test,Eva,eva@mail.example\n',
    );
    await sql`update intake.codes set influencer_handle = 'eva.test', handle_folded = 'eva.test' where deal_id = 'DEALMIA'`.execute(
      shop.db,
    );
    await sql`update intake.attributions set influencer_handle = 'eva.test'`.execute(shop.db);
    const later = (await get('/statements/2026-04/document?deal=DEALMIA')).text;
    expect(/name="recipient" value="([^"]*)"/.exec(later)?.[1]).toBe('mia@mail.example');
    expect(textOf(later)).toContain('@mia.test');
    expect(later).not.toContain('eva');
  });

  it('leaves a mail unclear for a person if the process dies before the answer, and never sends it again by itself', async () => {
    const { promise: never } = Promise.withResolvers<null>();
    let isHeld = true;
    const server = await startMailServer({ answer: async () => (isHeld ? never : null) });
    const shop = await openClosed(server.port);
    const process = shop.start(...SEND);
    await waitFor(async () => server.mails.length === 1);
    process.kill('SIGKILL');
    await process.ended;
    isHeld = false;
    expect(await kept(shop)).toEqual([['sending', null, 'mia@mail.example', false]]);
    // While its claim may be that of a living process, it is left alone; then it is unclear.
    expect((await shop.cli(...SEND)).stderr).toContain('it is being sent now');
    await sql`update ops.statement_mails set claimed_at = claimed_at - interval '2 minutes'`.execute(shop.db);
    const again = await shop.cli(...SEND);
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('unclear')]);
    const { get, post } = await startTestConsole(shop);
    await waitFor(async () => JSON.stringify(await kept(shop)) === '[["unclear","interrupted",null,true]]');
    expect(server.mails).toHaveLength(1);
    expect(textOf((await get('/')).text)).toContain('unclear whether a mail with a statement has arrived');
    expect((await shop.cli('status')).stdout).toMatch(
      /Mails that may not have arrived\s+.*2026-04 for deal DEALMIA/,
    );
    expect(textOf((await get('/statements')).text)).toContain('Unclear whether these mails arrived: 2026-04');
    expect(textOf((await get('/statements/2026-04/document?deal=DEALMIA')).text)).toContain(
      'It is never sent again by itself.',
    );
    const decided = await post('/statements/settle-mail', {
      mail: '1',
      outcome: 'failed',
      reason: 'asked her',
    });
    expect(textOf(decided.text)).toContain('has not arrived');
    expect((await shop.cli('statement', 'mails')).stdout).toContain(
      ', and tester said that it has not arrived.',
    );
    const settled = await shop.cli('statement', 'mails', '--arrived', '1', '--reason', 'asked her');
    expect([settled.exitCode, settled.stderr]).toEqual([2, expect.stringContaining('no unclear mail')]);
    expect((await shop.cli(...SEND)).exitCode).toBe(0);
    expect(server.mails).toHaveLength(2);
  });

  it('has failed if the server refused it or cannot be reached, and needs a mail server and an address', async () => {
    let refusal: Error | null = Object.assign(new Error('no mia@mail.example here'), { responseCode: 550 });
    const server = await startMailServer({ answer: async () => refusal });
    const shop = await openClosed(server.port);
    const refused = await shop.cli(...SEND);
    expect([refused.exitCode, refused.stdout]).toEqual([
      2,
      expect.stringContaining('not sent (EMESSAGE 550)'),
    ]);
    expect(refused.stdout + refused.stderr).not.toContain('mia@');
    refusal = null;
    // Nothing is sent by a process that may not decide.
    await sql`
      update ops.statement_mails set state = 'waiting', failure = null, settled_at = null, recipient = 'mia@mail.example', message = 'x'`.execute(
      shop.db,
    );
    const config = loadConfig(join(shop.folder, 'pipeline.yaml'), { ...process.env, ...shop.env });
    const errors: unknown[] = [];
    const mayDecide = async () => Promise.reject(new Error('the ledger lost claims'));
    const onError = (error: unknown) => void errors.push(error);
    const worker = startBulkWorker({ db: shop.db, config, leaseMs: 1_000, mayDecide, onError });
    await waitFor(() => errors.length === 1);
    await worker.stop();
    expect(await kept(shop)).toEqual([['waiting', null, 'mia@mail.example', false]]);
    expect(server.mails).toHaveLength(1);
    await sql`update ops.statement_mails set state = 'failed', failure = 'x', settled_at = now(), recipient = null, message = null`.execute(
      shop.db,
    );
    expect((await shop.cli(...SEND)).exitCode).toBe(0);
    const away = await openClosed(await findFreePort());
    const unreached = await away.cli(...SEND);
    expect([unreached.exitCode, unreached.stdout]).toEqual([2, expect.stringContaining('ECONNREFUSED')]);
    away.write('creators.csv', 'deal_id,name\nDEALMIA,Mia\n');
    expect((await away.cli(...SEND)).stderr).toContain('statements.creators has no address');
    expect((await away.cli('statement', 'mails')).stdout).toMatch(/^Mail 1: 2026-04 for deal DEALMIA\./);
  });
});
