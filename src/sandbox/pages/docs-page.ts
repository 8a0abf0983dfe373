import type { Html } from '../../core/text/html.ts';
import { webhookEvents } from '../../service/contract/webhook-events.ts';
import { webhookTypes } from '../../service/contract/webhook-types.ts';
import { type OperationName, operationNames, operationOf } from '../../service/contract.ts';
import { exampleOf } from '../../service/reference/examples.ts';
import { GROUPS } from '../../service/reference/groups.ts';
import {
  type Field,
  flattenFields,
  requestFieldsOf,
  responseFieldsOf,
} from '../../service/reference/operation-fields.ts';
import { html, page } from './page.ts';

/** Renders the operations and events of the contract as a page to browse. `/openapi.json` has the same for tools. */
export function renderDocs(): string {
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
