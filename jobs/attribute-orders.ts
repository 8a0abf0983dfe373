import type { AttributeOrdersSettings } from '../src/model/config.ts';
import { attributeOrders } from '../src/pipeline/attribute-orders.ts';
import type { JobKind } from './index.ts';

/** Credits orders to influencers: reads order exports, attributes by code, posts each order once. */
export const attributeOrdersJob: JobKind<AttributeOrdersSettings> = {
  kind: 'attribute-orders',
  summary: 'credit orders of shop exports to influencers',
  flow: attributeOrders,
};
