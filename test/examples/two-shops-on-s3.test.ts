import { expect, it, onTestFinished } from 'vitest';
import { putFolder, startS3Server } from '../support/s3-server.ts';
import { openExample } from './open-example.ts';

it('examples/two-shops-on-s3 posts the orders of both shops and submits the customers who gave consent', async () => {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const folder = new URL('../../examples/two-shops-on-s3/exports', import.meta.url).pathname;
  putFolder(s3, { bucket: 'acme-exports', folder });
  const example = await openExample('two-shops-on-s3', s3.env);

  const orders = await example.run('attribute-orders');
  expect(orders).toMatchObject({ exit_code: 0, counts: { orders: 6, entries: { accepted: 4 } } });
  const posted = await example.sandbox.referrals();
  expect(posted.map(({ order_platform, order_id }) => `${order_platform} ${order_id}`).sort()).toEqual([
    'shopify 6200000000501',
    'shopify 6200000000502',
    'woocommerce 7101',
    'woocommerce 7102',
  ]);

  expect(await example.run('identify-customers')).toMatchObject({ exit_code: 0 });
  const answer = await fetch(`${example.sandbox.url}/_sandbox/customers`);
  const submitted = (await answer.json()) as readonly { readonly email: string }[];
  expect(submitted.map(({ email }) => email).sort()).toEqual([
    'lars.eksempel@example.com',
    'leila.gomez@example.com',
    'noor.voorbeeld@example.com',
  ]);
});
