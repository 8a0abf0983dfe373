import { expect, it } from 'vitest';
import { openWorkshop } from '../../runs/workshop.ts';
import { reducedExport } from '../../support/reduced-export.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openReceiver, SECRET } from './deliver.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, time_zone: Europe/Amsterdam, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

/** An order whose notes contain the link that led to it. */
const EXPORT = `Name,Financial Status,Paid at,Currency,Subtotal,Total,Discount Code,Created at,Lineitem quantity,Lineitem name,Note Attributes,Id
#1,paid,2026-04-10 11:11:26 +0200,EUR,10.00,10.00,,2026-04-10 11:11:26 +0200,1,Hat,landing_site: https://acme.test/hats?utm_campaign=spring&ref=Zoe-Link,7001
`;

it('sandbox, receiver and run post an order to the deal that was given its custom link', {
  timeout: 120_000,
}, async () => {
  const shop = await openWorkshop({
    flow: FLOW,
    sandbox: { allowPrivateWebhooks: true, webhookSecret: SECRET },
  });
  const receiver = await openReceiver(shop.db);
  const registered = await shop.cli('webhooks', 'register', receiver.url, '--kind', 'update_custom_link');
  expect(registered, registered.stderr).toMatchObject({ exitCode: 0 });
  shop.drop('orders.csv', EXPORT);
  const before = await shop.run();
  expect(before.finished?.counts, before.stderr).toMatchObject({ orders: 1, unattributed: 1 });

  const link = { custom_url: 'https://acme.test/?ref=zoe-link&utm_campaign=spring' };
  const change = ['--deal_id', 'DEALZOE', '--new_deal_info', JSON.stringify(link)];
  const changed = await shop.cli('api', 'update_deal_info', ...change);
  expect(changed, changed.stderr).toMatchObject({ exitCode: 0 });
  await waitFor(
    async () => (await shop.db.selectFrom('intake.code_changes').select('event_id').execute()).length > 0,
  );

  const after = await shop.run();
  expect(after.finished?.counts, after.stderr).toMatchObject({ orders: 1, unattributed: 0 });
  expect(await shop.sandbox.referrals()).toMatchObject([{ order_id: '7001', deal_id: 'DEALZOE' }]);
});
