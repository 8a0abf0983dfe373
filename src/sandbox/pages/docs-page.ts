import { openApiDocument } from '../../api/reference/openapi.ts';
import type { Html } from '../../model/text/html.ts';
import { html, page } from './page.ts';

type Described = {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: unknown;
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
};
type Methods = Readonly<Record<string, Described>>;

/** Renders the OpenAPI document as a page to browse. */
export function renderDocs(): string {
  const { paths, webhooks } = JSON.parse(openApiDocument()) as {
    readonly paths: Readonly<Record<string, Methods>>;
    readonly webhooks: Readonly<Record<string, Methods>>;
  };
  return page(
    'Operations of the service',
    html`<h2>Operations</h2>${listAll(paths)}<h2>Events</h2>${listAll(webhooks)}`,
  );
}

function listAll(places: Readonly<Record<string, Methods>>): readonly Html[] {
  return Object.entries(places).flatMap(([place, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      describe(`${method.toUpperCase()} ${place}`, described),
    ),
  );
}

function describe(
  title: string,
  { summary, description, parameters, requestBody, responses }: Described,
): Html {
  return html`<details><summary><code>${title}</code> ${summary}</summary>
<p>${description}</p>${showJson('Parameters', parameters)}${showJson('Body', requestBody)}${showJson('Answers', responses)}</details>`;
}

function showJson(title: string, value: unknown): Html {
  return value === undefined ? html`` : html`<h4>${title}</h4><pre>${JSON.stringify(value, null, 2)}</pre>`;
}
