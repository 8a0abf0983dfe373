import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { addFindings } from './console-shop.ts';

/** Opens a shop with a file in which checks found three problems, one of them acknowledged. */
async function openFound(): Promise<Workshop> {
  const shop = await openWorkshop();
  shop.drop('april.csv', toCsv([{ id: 'A1', revenue: '12.50' }]));
  await shop.run();
  await addFindings(shop);
  return shop;
}

const hold = ({ db }: Workshop) =>
  sql`with held as (update intake.source_files set state = 'held', hold_code = 'unusual_content', hold_message = 'unusual' returning 1)
    update intake.check_findings set verdict = 'held' where acknowledged_at is null`.execute(db);

const situation = async ({ db }: Workshop) => {
  const { rows } = await sql`
    select g.finding_id, g.acknowledged_at is not null as acknowledged, g.acknowledge_reason, f.reread_at is not null as reread
    from intake.check_findings g join intake.source_files f using (source_file_id) order by g.finding_id`.execute(
    db,
  );
  return rows;
};

const records = async ({ db }: Workshop) =>
  (await listAudit(db, { limit: 10 })).map(
    ({ auditId: _, occurredAt: __, actor: ___, via: ____, ...record }) => record,
  );

describe('the findings of checks', () => {
  it('are listed like those of the command', async () => {
    const shop = await openFound();
    const { get } = await startTestConsole(shop);
    const listed = (await shop.cli('checks')).stdout;
    expect(listed).toContain('Unusual files (2)');
    expect(listed).toMatch(/rows +learning +1 /);
    const { text } = await get('/checks');
    const page = textOf(text);
    expect(page.match(/40 to 60/g)).toHaveLength(2);
    expect(page).toMatch(
      /shop, read for orders .*\d+ learning.* april\.csv, arrived .* UTC ; 1 file to learn from/,
    );
    expect(page).toMatch(/rows learning 1 /);
    expect(textOf((await get('/checks?source=other')).text)).toContain('Nothing matches this filter.');
    const [one, known] = [textOf((await get('/checks/1')).text), textOf((await get('/checks/2')).text)];
    expect(one).toMatch(
      /Finding 1: the median order value of each currency .* Lines that show it 2; 3 File april\.csv/,
    );
    expect(known).toMatch(/Acknowledged .* by ann/);
    for (const none of ['/checks/99', '/checks/x']) expect((await get(none)).status).toBe(404);
  });

  it('are acknowledged like by the command: files that nothing else holds are read again, and both changes are recorded', async () => {
    const [byCommand, byForm] = [await openFound(), await openFound()];
    await hold(byCommand);
    await hold(byForm);
    await byCommand.cli('checks', 'acknowledge', '1', '3', '--reason', 'a campaign');
    const { get, post } = await startTestConsole(byForm);
    // A file that a check holds can be read as it is.
    expect((await get('/files/1')).text).toMatch(/href="\/checks\/3">Acknowledge what is unusual/);
    const first = await post('/checks/acknowledge', { finding: '1', reason: 'a campaign' });
    expect(first.status).toBe(200);
    expect((await situation(byForm))[0]).toMatchObject({ acknowledged: true, reread: false });
    expect((await post('/checks/acknowledge', { finding: '3', reason: 'a campaign' })).status).toBe(200);
    expect(await situation(byForm)).toEqual(await situation(byCommand));
    expect((await situation(byForm))[0]).toMatchObject({ reread: true });
    expect(await records(byForm)).toEqual(await records(byCommand));
    const again = await post('/checks/acknowledge', { finding: '1', reason: 'a campaign' });
    expect([again.status, textOf(again.text)]).toEqual([
      409,
      expect.stringContaining('Somebody has acknowledged it already'),
    ]);
  });

  it('of one file are acknowledged together or not at all', async () => {
    const shop = await openFound();
    const { get, post } = await startTestConsole(shop);
    expect(textOf((await get('/checks/1')).text)).toContain(
      'Also 3, the share of orders that earlier files have:',
    );
    const fields = (ids: readonly string[]) => [
      ...ids.map((id) => ['finding', id] as const),
      ['reason', 'a campaign'] as const,
    ];
    expect((await post('/checks/acknowledge', fields(['1', '2']))).status).toBe(409);
    expect((await situation(shop))[0]).toMatchObject({ acknowledged: false });
    expect((await post('/checks/acknowledge', fields(['1', '3']))).status).toBe(200);
    expect(await records(shop)).toHaveLength(2);
  });

  it('an expected date is added like by the command', async () => {
    const [byCommand, byForm] = [await openFound(), await openFound()];
    const day = '2026-11-27';
    await byCommand.cli('checks', 'expect-date', day, 'Black Friday', '--source', 'shop');
    const { post } = await startTestConsole(byForm);
    const said = await post('/checks/expect-date', { day, source: 'shop', reason: 'Black Friday' });
    expect(textOf(said.text)).toContain(`Unusual amounts of orders are expected on ${day}: Black Friday`);
    const dates = async ({ db }: Workshop) =>
      (await sql`select day::text, source, name from intake.expected_dates order by 1`.execute(db)).rows;
    expect(await dates(byForm)).toEqual(await dates(byCommand));
    expect(await records(byForm)).toEqual(await records(byCommand));
    expect((await post('/checks/expect-date', { day: '2026-02-30', reason: 'x' })).status).toBe(400);
    expect((await post('/checks/expect-date', { day, source: 'other', reason: 'x' })).status).toBe(409);
  });
});
