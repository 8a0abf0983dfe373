import { z } from 'zod';
import { messageResponse, text } from './fields.ts';
import { defineOperation } from './operation.ts';
import { webhookTypes } from './webhook-types.ts';

const address = z
  .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
  .meta({ title: 'http or https address' });
const webhook = z.looseObject({ webhook_url: address, webhook_type: z.enum(webhookTypes) });

export const webhookOperations = {
  create_webhook: defineOperation({
    group: 'webhooks',
    method: 'POST',
    path: '/v1/account/create_webhook',
    body: webhook,
    response: messageResponse,
    repeatable: true,
    description: 'Registers an address for one kind of event. Endpoints, Webhook management; Events.',
  }),
  get_webhooks: defineOperation({
    group: 'webhooks',
    method: 'GET',
    path: '/v1/account/get_webhooks',
    response: z.looseObject({ webhooks: z.array(z.looseObject({})).describe('Items: not shown.') }),
    repeatable: true,
    description: 'Lists the registered addresses. Endpoints, Webhook management.',
  }),
  delete_webhook: defineOperation({
    group: 'webhooks',
    method: 'DELETE',
    path: '/v1/account/delete_webhook',
    // The service has kinds that are not in the specification. They must be removable, so any text is sent.
    body: z.looseObject({ webhook_url: text, webhook_type: text }),
    response: messageResponse,
    repeatable: true,
    description:
      'Removes a registration. The service refuses an unknown registration with 400, not 404. Endpoints, Webhook management.',
  }),
};
