import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startFakeService } from './fake-service.ts';
import { countCustomers, manyEmails, openCustomers, toCustomers } from './story.ts';

const MIA = {
  is_influencer: true,
  type: 'instagram',
  user_id: '77',
  url: 'https://social.example/mia',
  username: 'mia.test',
  fullname: 'Mia Secret-Name',
  picture: 'https://social.example/mia.jpg',
  followers: 12_000,
  is_verified: false,
};

describe('lookup: real_time', () => {
  it('stores the public profile of an influencer, and every clear no as no match', async () => {
    const answers: Readonly<Record<string, { status: number; body: string }>> = {
      'mia@example.com': { status: 200, body: JSON.stringify(MIA) },
      'no@example.com': { status: 200, body: '{"is_influencer":false}' },
      'null@example.com': { status: 200, body: 'null' },
      'empty@example.com': { status: 204, body: '' },
      'object@example.com': { status: 200, body: '{}' },
      'list@example.com': { status: 200, body: '[]' },
      'nulls@example.com': { status: 200, body: '{"is_influencer":null,"username":null,"followers":null}' },
      'gone@example.com': { status: 404, body: '{"message":"not found"}' },
      'bad@example.com': { status: 400, body: '{"message":"bad@example.com is not accepted"}' },
    };
    const service = await startFakeService({
      onLookup: (address) => answers[address] ?? { status: 500, body: '' },
    });
    const shop = await openCustomers({ serviceUrl: service.url, job: 'lookup: real_time' });
    shop.drop('1.csv', toCustomers(Object.keys(answers)));
    const { exitCode, finished } = await shop.identify();
    expect(exitCode).toBe(0);
    expect(finished?.counts).toMatchObject({
      submitted: 9,
      lookups: { asked: 9, influencers: 1, no_match: 7, refused: 1, beyond_budget: 0, to_ask: 0 },
    });
    const { rows } = await sql`
      select outcome, platform, user_id, username, followers, is_verified, profile_url, picture_url
      from intake.lookups where outcome = 'influencer'`.execute(shop.db);
    expect(rows).toEqual([
      {
        outcome: 'influencer',
        platform: 'instagram',
        user_id: '77',
        username: 'mia.test',
        followers: '12000',
        is_verified: false,
        profile_url: MIA.url,
        picture_url: MIA.picture,
      },
    ]);
    const { rows: all } = await sql<{ text: string }>`select l::text as text from intake.lookups l`.execute(
      shop.db,
    );
    expect(JSON.stringify(all)).not.toMatch(/Secret-Name|@example/);
  });

  it.each([
    ['an error', { status: 200, body: '{"error":"try later"}' }],
    ['a 404 without a body', { status: 404, body: '' }],
    ['a 404 in the words of a gateway', { status: 404, body: 'default backend - 404' }],
    ['a 410 without a reason', { status: 410, body: '{}' }],
    ['a 400 in the words of a gateway', { status: 400, body: 'Bad Request' }],
  ])(
    'asks again in the next run about customers to whose look-up the service gave %s',
    async (_what, unclear) => {
      const service = await startFakeService({
        onLookup: (address) =>
          address.startsWith('c1@') ? unclear : { status: 200, body: '{"is_influencer":false}' },
      });
      const shop = await openCustomers({ serviceUrl: service.url, job: 'lookup: real_time' });
      shop.drop('1.csv', toCustomers(manyEmails(3)));
      const first = await shop.cli('run', 'customers');
      expect(first.exitCode).toBe(1);
      expect(first.stdout + first.stderr).toContain('One request got no clear answer');
      expect(await countCustomers(shop.db)).toEqual({ submitted: 3 });
      service.behave(() => ({ status: 200, body: '{"is_influencer":false}' }));
      const second = await shop.identify();
      expect(second.exitCode).toBe(0);
      expect(second.finished?.counts).toMatchObject({ lookups: { asked: 1, no_match: 1, to_ask: 0 } });
    },
  );

  it('looks up each customer once within the budget; later files continue with the others', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, job: 'lookup: {budget: 4}' });
    shop.drop('1.csv', toCustomers([...manyEmails(6), 'C1@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({
      submitted: 6,
      lookups: { asked: 4, beyond_budget: 2, to_ask: 0 },
    });
    const { rows } = await sql`select 1 from intake.waiting_batches`.execute(shop.db);
    expect(rows).toEqual([]);
    shop.drop('2.csv', toCustomers([...manyEmails(6), 'new@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 1, lookups: { asked: 3 } });
    expect([...service.lookups].sort()).toEqual([...manyEmails(6), 'new@example.com'].sort());
  });

  it('counts a customer in several files of a run once against the budget', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({ serviceUrl: service.url, job: 'lookup: {budget: 4}' });
    shop.drop('1.csv', toCustomers(manyEmails(3)));
    shop.drop('2.csv', toCustomers([...manyEmails(3), 'new@example.com', 'beyond@example.com']));
    shop.drop('3.csv', toCustomers(['last@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({
      submitted: 6,
      lookups: { asked: 4, beyond_budget: 2, to_ask: 0 },
    });
  });

  it('looks up only customers who meet one of its conditions', async () => {
    const service = await startFakeService();
    const shop = await openCustomers({
      serviceUrl: service.url,
      job: 'lookup: {min_orders: 3, min_spent: 100}',
    });
    shop.drop(
      '1.csv',
      'email,orders_count,total_spent\nfew@example.com,2,99.99\nmany@example.com,3,1.00\nrich@example.com,1,100.00\nunknown@example.com,,\n',
    );
    expect((await shop.identify()).finished?.counts).toMatchObject({ submitted: 4, lookups: { asked: 2 } });
    expect([...service.lookups].sort()).toEqual(['many@example.com', 'rich@example.com']);
  });

  it('looks customers up again after recheck_after, and replaces their profile', async () => {
    let isInfluencer = false;
    const service = await startFakeService({
      onLookup: () => ({ status: 200, body: isInfluencer ? JSON.stringify(MIA) : '{}' }),
    });
    const shop = await openCustomers({
      serviceUrl: service.url,
      job: 'lookup: real_time, recheck_after: 90',
    });
    shop.drop('1.csv', toCustomers(['mia@example.com']));
    await shop.identify();
    await sql`update intake.lookups set looked_up_at = looked_up_at - interval '91 days'`.execute(shop.db);
    isInfluencer = true;
    shop.drop('2.csv', toCustomers(['mia@example.com', 'other@example.com']));
    expect((await shop.identify()).finished?.counts).toMatchObject({ lookups: { asked: 2, influencers: 2 } });
  });

  it('does not treat an unknown brand as customers without a match', async () => {
    const service = await startFakeService({
      onLookup: () => ({ status: 404, body: '{"message":"Brand not found"}' }),
    });
    const shop = await openCustomers({ serviceUrl: service.url, job: 'lookup: real_time' });
    shop.drop('1.csv', toCustomers(manyEmails(5)));
    const { exitCode, stderr } = await shop.cli('run', 'customers');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('does not know the brand');
    expect((await sql`select 1 from intake.lookups`.execute(shop.db)).rows).toEqual([]);
    expect(service.batches).toEqual([]);
  });
});
