import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readEvents } from '../../support/run-cli.ts';
import { runHere } from '../../support/run-here.ts';
import { startService } from '../../support/sandbox-process.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { insertEntry, readFacts, startWorker } from '../entries.ts';
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
