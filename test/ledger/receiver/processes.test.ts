import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { watchLedger } from '../../../src/cli/open/watch-ledger.ts';
import type { PipelineConfig } from '../../../src/config/schema.ts';
import { loseClaims } from '../../recovery/lost-databases.ts';
import { manyRows, openWorkshop, toCsv, type Workshop } from '../../runs/workshop.ts';
import { readEvents } from '../../support/run-cli.ts';
import { runHere } from '../../support/run-here.ts';
import { startService } from '../../support/sandbox-process.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { insertEntry, readFacts, startWorker } from '../entries.ts';
import { deliver, SECRET } from './deliver.ts';
import { PIPELINE, startReceiverProcess } from './receiver-process.ts';

it('sandbox, receiver and ledger settle an order in doubt by the event of the service', async () => {
  const { db, databaseUrl, folder } = await setup();
  const sandbox = await startService({ allowPrivateWebhooks: true });
  const env = {
    DATABASE_URL: databaseUrl,
    INFLUENCER_API_URL: sandbox.url,
    INFLUENCER_API_KEY: sandbox.key,
    INFLUENCER_WEBHOOK_SECRET: sandbox.webhookSecret,
  };
  const receiver = await startReceiverProcess(folder, env);
  const options = { cwd: folder, env };
  const configured = ['--config', 'pipeline.yaml', '--json'];
  const registered = await runHere(['webhooks', 'register', receiver.url, ...configured], options);
  expect(readEvents(registered)).toHaveLength(10);

  const worker = await startWorker(db);
  const inDoubt = await insertEntry(db, { runId: worker.runId, orderId: '1001' });
  await worker.claim(inDoubt);
  await sql`update ledger.entries set state = 'in_doubt', owner = null, doubtful_attempt = 1, state_reason = 'timeout'`.execute(
    db,
  );
  const notSent = await insertEntry(db, { runId: worker.runId, orderId: '1002' });

  // The state after a lost answer, or after another program posted: the service has both orders.
  for (const orderId of ['1001', '1002']) {
    const order = ['--order_id', orderId, '--order_revenue', '10.00', '--order_platform', 'shopify'];
    const sent = await runHere(
      ['api', 'new_influencer_referral', '--deal_id', 'ETUNQ6ZTW1', ...order],
      options,
    );
    expect(sent, sent.stderr).toMatchObject({ exitCode: 0 });
  }
  await waitFor(async () => (await readFacts(db, notSent)).state === 'held');
  expect((await readFacts(db, inDoubt)).state).toBe('accepted');

  const listed = readEvents(await runHere(['webhooks', 'list', ...configured], options));
  expect(listed.map(({ webhook_type: type }) => type)).toContain('new_influencer_order');
  const deleted = readEvents(await runHere(['webhooks', 'delete', receiver.url, ...configured], options));
  expect(deleted).toHaveLength(10);
  expect(readEvents(await runHere(['webhooks', 'list', ...configured], options))).toEqual([]);
  receiver.process.kill('SIGTERM');
  expect(await receiver.process.ended).toMatchObject({ exitCode: 0 });
});

it('the webhooks command names the missing secret', async () => {
  const { folder, databaseUrl } = await setup();
  writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
  const ended = await runHere(['webhooks', '--config', 'pipeline.yaml'], {
    cwd: folder,
    env: { DATABASE_URL: databaseUrl },
  });
  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain('INFLUENCER_WEBHOOK_SECRET');
});

/** The order of the newest claim. */
async function lastOrder({ db }: Workshop): Promise<string> {
  const { order_id: orderId } = await db
    .selectFrom('ledger.attempts')
    .innerJoin('ledger.entries', 'ledger.entries.entry_id', 'ledger.attempts.entry_id')
    .select('ledger.entries.order_id')
    .orderBy('claim_no', 'desc')
    .executeTakeFirstOrThrow();
  return String(orderId);
}

it('a receiver on a ledger that lost claims says so, and what to do, and stores events nevertheless', async () => {
  const shop = await openWorkshop();
  shop.drop('1.csv', toCsv(manyRows(2)));
  expect((await shop.run()).exitCode).toBe(0);
  const databaseUrl = shop.env.DATABASE_URL ?? '';
  await loseClaims(databaseUrl, await lastOrder(shop));
  const env = { DATABASE_URL: databaseUrl, INFLUENCER_WEBHOOK_SECRET: SECRET };
  const receiver = await startReceiverProcess(shop.folder, env);
  expect(await deliver(receiver.url, '{"webhook_type":"new_influencer_post","deal_id":"D1"}')).toBe(200);
  receiver.process.kill('SIGTERM');
  const { stderr } = await receiver.process.ended;
  const text = stderr.replace(/\s+/g, ' ');
  expect(text).toContain('The ledger lost claims.');
  expect(text).toContain('1 order (');
  expect(text).toContain('Until this is settled, nothing is posted, but events are stored.');
  expect(text).toContain('npx influencer-sync ledger recover');
  expect(await shop.db.selectFrom('ops.webhook_events').select('kind').execute()).toHaveLength(1);
});

it('a process that goes on says once that the ledger lost claims, and once that it is complete again', async () => {
  const shop = await openWorkshop();
  shop.drop('1.csv', toCsv(manyRows(2)));
  expect((await shop.run()).exitCode).toBe(0);
  const said: (string | null)[] = [];
  const config = {
    api: { url: '' },
    database: { url: shop.env.DATABASE_URL, dataFolder: join(shop.folder, '.data') },
    ledger: { mark: null, stateFolder: null },
  } as unknown as PipelineConfig;
  const look = watchLedger({ db: shop.db, config }, (problem) => said.push(problem?.details.code ?? null));
  const journal = join(shop.folder, '.data', 'journal');
  await look();
  await loseClaims(shop.env.DATABASE_URL ?? '', await lastOrder(shop));
  expect([await look(), await look()]).toEqual(['ledger_went_back', 'ledger_went_back']);
  renameSync(journal, `${journal}.away`);
  expect(await look()).toBeNull();
  writeFileSync(journal, '');
  expect(await look()).toBe('data_folder_unusable');
  expect(said).toEqual(['ledger_went_back', null, 'data_folder_unusable']);
});
