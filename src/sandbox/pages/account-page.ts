import type { Html } from '../../model/text/html.ts';
import { maskAddresses } from '../../model/text/mask-addresses.ts';
import type { Tenant } from '../open-tenant.ts';
import { html, page } from './page.ts';

/** Maximum number of rows of a table. `/_sandbox` lists all of them. */
const MAX_ROWS = 100;

/**
 * Renders the content of each account: deals, events with their deliveries, mail. E-mail addresses are
 * masked.
 */
export function renderAccounts(tenants: readonly Tenant[]): string {
  return page('Sandbox', html`${tenants.map(renderAccount)}`);
}

function renderAccount({ world }: Tenant): Html {
  const { account, events } = world;
  const deliveries = [...events.deliveries()].slice(-MAX_ROWS).reverse();
  const collaborations = [...account.collaborations.values()].slice(0, MAX_ROWS);
  const mails = deliveries.filter(({ webhook_type }) => MAIL.includes(webhook_type));
  return html`<h2>Account ${account.id}</h2>
<h3>Deals (${account.deals.size})</h3>
${table(
  ['Deal', 'Influencer', 'Platform', 'Brand', 'Dealflow', 'Stage', 'Code', 'Clicks', 'Orders'],
  collaborations.map(({ deal, brandId, dealflowId, code, clicks, referrals }) => [
    deal.id,
    deal.influencerHandle,
    deal.platform,
    brandId,
    account.dealflows.get(dealflowId)?.name ?? dealflowId,
    deal.funnelStep,
    code,
    clicks,
    referrals,
  ]),
)}
<h3>Events and their deliveries</h3>
${table(
  ['Number', 'Event', 'Webhook', 'State', 'Attempts'],
  deliveries.map(({ id, webhook_type, webhook_url, state, attempts }) => [
    id,
    webhook_type,
    webhook_url,
    state,
    attempts.map(({ at, status, error }) => `${at}: ${status ?? error}`).join('; '),
  ]),
)}
<h3>Mail</h3>
${table(
  ['Number', 'Direction', 'Subject', 'Text'],
  mails.map(({ id, webhook_type, body }) => {
    const { subject, body: text } = readMail(body);
    return [id, webhook_type === 'new_email_sent' ? 'to the influencer' : 'reply', subject, text];
  }),
)}`;
}

const MAIL: readonly string[] = ['new_email_sent', 'new_influencer_reply'];

function readMail(body: string): { readonly subject?: string; readonly body?: string } {
  const { email_information } = JSON.parse(body) as { readonly email_information?: object };
  return email_information ?? {};
}

function table(
  titles: readonly string[],
  rows: readonly (readonly (string | number | null | undefined)[])[],
): Html {
  if (rows.length === 0) return html`<p>None.</p>`;
  return html`<table><thead><tr>${titles.map((title) => html`<th>${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${maskAddresses(String(cell ?? ''))}</td>`)}</tr>`)}</tbody></table>`;
}
