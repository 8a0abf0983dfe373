import { formatInstant } from '../../core/text/format-instant.ts';
import type { Html } from '../../core/text/html.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { Tenant } from '../open-tenant.ts';
import { html, page } from './page.ts';

/** Maximum number of rows of a table. `/_sandbox` lists all of them. */
const MAX_ROWS = 100;

/**
 * Renders the content of each account: deals, events with their deliveries, mail. E-mail addresses are
 * masked.
 */
export function renderAccounts(tenants: readonly Tenant[]): string {
  return page(
    'Sandbox',
    html`<p>Times are in UTC, by the clock of the sandbox. Events and mail are the latest since its start.</p>${tenants.map(renderAccount)}`,
  );
}

function renderAccount({ world }: Tenant): Html {
  const { account, events } = world;
  const deliveries = [...events.deliveries()].slice(-MAX_ROWS).reverse();
  const collaborations = [...account.collaborations.values()].slice(0, MAX_ROWS);
  const past = [...events.past()].reverse();
  const mails = past.flatMap(({ kind, ...mail }) =>
    MAIL.has(kind) ? [{ ...mail, direction: MAIL.get(kind) }] : [],
  );
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
<h3>Events</h3>
${table(
  ['Time', 'Event', 'Deal', 'Influencer', 'Webhooks'],
  past.map(({ atMs, kind, collaboration: { deal }, webhooks }) => [
    formatInstant(new Date(atMs)),
    kind,
    deal.id,
    deal.influencerHandle,
    webhooks,
  ]),
)}
<h3>Deliveries to webhooks</h3>
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
  ['Time', 'Influencer', 'Direction', 'Subject', 'Text'],
  mails.map(({ atMs, collaboration: { deal }, direction, details }) => {
    const { subject, body } = (details.email_information ?? {}) as Mail;
    return [formatInstant(new Date(atMs)), deal.influencerHandle, direction, subject, body];
  }),
)}`;
}

const MAIL: ReadonlyMap<string, string> = new Map([
  ['new_email_sent', 'to the influencer'],
  ['new_influencer_reply', 'reply'],
]);

type Mail = { readonly subject?: string; readonly body?: string };

function table(
  titles: readonly string[],
  rows: readonly (readonly (string | number | null | undefined)[])[],
): Html {
  if (rows.length === 0) return html`<p>None.</p>`;
  return html`<table><thead><tr>${titles.map((title) => html`<th>${title}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${maskAddresses(String(cell ?? ''))}</td>`)}</tr>`)}</tbody></table>`;
}
