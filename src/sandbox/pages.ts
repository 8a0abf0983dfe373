import type { FastifyInstance } from 'fastify';
import { formatInstant } from '../core/text/format-instant.ts';
import { type Html, type HtmlValue, joinMarkup } from '../core/text/html.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { toPrintable } from '../core/text/printable.ts';
import { GROUPS } from '../service/contract/operation.ts';
import { webhookEvents } from '../service/contract/webhook-events.ts';
import { webhookTypes } from '../service/contract/webhook-types.ts';
import { type OperationName, operationNames, operationOf } from '../service/contract.ts';
import { exampleOf } from '../service/reference/examples.ts';
import { openApiDocument } from '../service/reference/openapi.ts';
import {
  type Field,
  flattenFields,
  requestFieldsOf,
  responseFieldsOf,
} from '../service/reference/operation-fields.ts';
import type { Tenant } from './account/open-tenant.ts';
import type { Context, Guard } from './context.ts';

/**
 * Adds the HTML pages and the OpenAPI document. By default, the content of accounts is shown only on this
 * machine.
 */
export function addPages(server: FastifyInstance, context: Context, onRequest: Guard): void {
  server.get('/openapi.json', (_request, reply) => reply.type('application/json').send(openApiDocument()));
  server.get('/docs', (_request, reply) =>
    reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(renderDocs()),
  );
  server.get('/', { onRequest }, (_request, reply) =>
    reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(renderAccounts(context.tenants)),
  );
}

/** A fragment of an HTML page. Values are escaped, so nothing in an account's data acts as markup. */
function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return joinMarkup(strings, values, toPrintable);
}

/** A whole page, without scripts or external resources. */
function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title>${STYLE}</head>
<body><nav><a href="/">Sandbox</a> <a href="/docs">Operations</a> <a href="/openapi.json">openapi.json</a></nav>
<h1>${title}</h1>${content}</body></html>
`.toString();
}

/** Headers that let a browser only display the page. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

const STYLE = html`<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
nav a{margin-right:1rem}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #8884;overflow-wrap:anywhere}th{white-space:nowrap}
pre{overflow:auto;background:#8881;padding:.6rem;font-size:.85rem}summary{cursor:pointer;padding:.2rem 0}
@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8bf}}</style>`;

/** Maximum number of rows of a table. `/_sandbox` lists all of them. */
const MAX_ROWS = 100;

/**
 * Renders the content of each account: deals, events with their deliveries, mail. E-mail addresses are
 * masked.
 */
function renderAccounts(tenants: readonly Tenant[]): string {
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

/** Renders the operations and events of the contract as a page to browse. `/openapi.json` has the same for tools. */
function renderDocs(): string {
  const groups = [...new Set(operationNames.map((name) => operationOf(name).group))];
  return page(
    'Operations of the service',
    html`${groups.map((group) => {
      const names = operationNames.filter((name) => operationOf(name).group === group);
      return html`<h2>${group[0]?.toUpperCase()}${group.slice(1)}</h2><p>${GROUPS[group]}</p>${names.map(renderOperation)}`;
    })}<h2>Events</h2><p>What the sandbox posts to registered webhooks, signed.</p>${webhookTypes.map(
      (kind) => {
        const event = webhookEvents[kind];
        return renderEntry(kind, event.description ?? '', [
          renderFields('Body', responseFieldsOf({ response: event })),
        ]);
      },
    )}`,
  );
}

function renderOperation(name: OperationName): Html {
  const operation = operationOf(name);
  const { method, path, sendsKey, repeatable, credits, description } = operation;
  const { place, fields, rules } = requestFieldsOf(operation);
  const { query, body } = exampleOf(name);
  const facts = [
    sendsKey ? 'Needs the key, in the header X-API-KEY' : 'Needs no key',
    repeatable ? 'may be repeated' : 'must not be repeated',
    ...(credits === null ? [] : [`costs ${credits}`]),
  ];
  return renderEntry(`${method} ${path}`, description, [
    html`<p>${facts.join('; ')}.</p>`,
    ...rules.map((rule) => html`<p>Rule: ${rule}.</p>`),
    renderFields(place === 'query' ? 'Query' : 'Body', fields),
    renderExample(body ?? query),
    renderFields('Answer', responseFieldsOf(operation)),
  ]);
}

function renderEntry(title: string, description: string, parts: readonly Html[]): Html {
  const [summary = '', ...rest] = description.split(/(?<=\.)\s/);
  return html`<details><summary><code>${title}</code> ${summary.replace(/\.$/, '')}</summary><p>${rest.join(' ')}</p>${parts}</details>`;
}

function renderFields(title: string, fields: readonly Field[]): Html {
  if (fields.length === 0) return html``;
  const always = title === 'Answer' ? 'Always' : 'Required';
  return html`<table><thead><tr><th>${title}</th><th>Type</th><th>${always}</th><th>Notes</th></tr></thead>
<tbody>${flattenFields(fields).map(
    ({ name, type, isRequired, description }) =>
      html`<tr><td><code>${name}</code></td><td>${type}</td><td>${isRequired ? 'yes' : ''}</td><td>${description}</td></tr>`,
  )}</tbody></table>`;
}

function renderExample(example: object | null | undefined): Html {
  return example === null || example === undefined
    ? html``
    : html`<h4>Example</h4><pre>${JSON.stringify(example, null, 2)}</pre>`;
}
