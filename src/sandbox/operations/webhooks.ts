import { isPrivateHost } from '../events/private-address.ts';
import { answer, type Handlers, refuse } from './operation.ts';

export const webhooks: Handlers = {
  create_webhook: ({ account, body, allowsPrivateWebhooks }) => {
    const { webhook_url, webhook_type } = body;
    const { hostname, username, password } = new URL(webhook_url);
    if (username !== '' || password !== '')
      return refuse(400, 'webhook_url: it must not hold a user name or a password');
    if (!allowsPrivateWebhooks && isPrivateHost(hostname))
      return refuse(
        400,
        'webhook_url: an address of this machine or of a private network is refused (start the sandbox with --allow-private-webhooks to allow it)',
      );
    const id = idOf(webhook_type, webhook_url);
    if (account.webhooks.items.has(id))
      return refuse(409, 'This webhook_url is already registered for this webhook_type.');
    account.webhooks.set(id, { webhook_url, webhook_type });
    return answer({ message: 'The webhook was registered.' });
  },

  get_webhooks: ({ account }) => answer({ webhooks: [...account.webhooks.items.values()] }),

  delete_webhook: ({ account, body }) => {
    const isDeleted = account.webhooks.delete(idOf(body.webhook_type, body.webhook_url));
    if (!isDeleted)
      return refuse(400, 'There is no such webhook: webhook_url and webhook_type must both match.');
    return answer({ message: 'The webhook was deleted.' });
  },
};

function idOf(type: string, url: string): string {
  return `${type} ${url}`;
}
