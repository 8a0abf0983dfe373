import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { startS3Server } from '../../support/s3-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { countStates, manyRows, toCsv } from '../workshop.ts';
import { countEnds, openSpreadShop, startWorkers } from './spread-shop.ts';

const BUCKET = 'acme-exports';
const S3 = 'layout: generic, time_zone: Europe/Amsterdam, force_path_style: true';
/** 6 seconds without a byte or row: less than the default of `idle_timeout_seconds`. */
const STALL_MINUTES = 0.1;
const FLOW = `
work: {engine: pg-boss}
sources:
  impatient: {uri: "s3://${BUCKET}/impatient/", order_platform: shopify, limits: {idle_timeout_seconds: 0.2}, ${S3}}
  patient: {uri: "s3://${BUCKET}/patient/", order_platform: shopify, ${S3}}
jobs:
  orders: {kind: attribute-orders, source: [impatient, patient], brand_id: 4819, codes: ./codes.csv, stall_minutes: ${STALL_MINUTES}}
`;

it('a unit ends if the store stops in the middle of a body: by the timeout of the source, else when it makes no progress', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const shop = await openSpreadShop({ flow: FLOW, env: s3.env });
  for (const source of ['impatient', 'patient']) {
    const key = `${source}/orders.csv`;
    const file = toCsv(manyRows(200, `${source}-`));
    s3.put(BUCKET, key, file);
    s3.fail({ operation: 'GetObject', key, kind: 'stall', afterBytes: file.length / 2 });
    s3.fail({ operation: 'GetObject', key, kind: 'stall', afterBytes: 0, times: 100 });
  }
  await startWorkers(shop, 2);
  const run = await shop.run();
  expect(run.exitCode, run.stderr).toBe(1);
  expect(run.events.at(-1)).toMatchObject({ event: 'error', code: 'run_overdue' });
  expect(run.events.at(-1)?.message).toMatch(
    /^The reading of source patient by a worker \(process \d+ on .+\) made no progress for 0.1 minutes \(stall_minutes\)/,
  );
  expect(await countEnds(shop.db)).toEqual({ 'read-source done': 1, 'read-source failed': 1 });
  const { rows: files } = await sql`
    select source, state, hold_code as code from intake.source_files order by source`.execute(shop.db);
  expect(files).toEqual([
    { source: 'impatient', state: 'held', code: 'read_stalled' },
    { source: 'patient', state: 'reading', code: null },
  ]);
  await waitFor(() => s3.openAnswers() === 0);
  s3.heal();
  expect((await shop.run()).exitCode).toBe(0);
  expect(await countStates(shop.db)).toEqual({ accepted: 400 });
});
