import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../jobs/index.ts';
import type { ConsoleSettings } from '../../src/config/console-fields.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import { addConsole } from '../../src/console/add-console.ts';
import { listen, openServer } from '../../src/monitoring/observe/start-observer.ts';
import type { Workshop } from '../runs/workshop.ts';

export type ConsoleServer = {
  /** The URL, without a trailing slash. */
  readonly url: string;
  /** Fetches a page and follows redirects, as a browser does. */
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; url: string }>;
  /** Submits a form as a page of this server would, unless `headers` say otherwise. */
  post(
    path: string,
    fields: Readonly<Record<string, string>> | readonly (readonly [name: string, value: string])[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; url: string }>;
};

/** Starts the console on the database of a workshop, on a free port, until the test has finished. */
export async function startTestConsole(
  workshop: Workshop,
  settings: Partial<ConsoleSettings> = {},
  {
    host = '127.0.0.1',
    port = 0,
    errors = [],
  }: {
    readonly host?: string;
    readonly port?: number;
    /** Collects the errors of the console. A test removes the errors that it expects. */
    readonly errors?: unknown[];
  } = {},
): Promise<ConsoleServer> {
  const loaded = loadConfig(join(workshop.folder, 'pipeline.yaml'), { ...process.env, ...workshop.env });
  const config: PipelineConfig = { ...loaded, console: { ...loaded.console, ...settings } };
  const server = openServer();
  addConsole(server, {
    readDb: workshop.db,
    db: workshop.db,
    config,
    host,
    localActor: 'tester',
    onError: (error) => void errors.push(error),
  });
  const { url, close } = await listen(server, { host, port, command: 'console' });
  onTestFinished(async () => {
    await close();
    if (errors.length > 0) throw errors[0];
  });
  const read = async (response: Response) => ({
    status: response.status,
    text: await response.text(),
    url: response.url,
  });
  return {
    url,
    get: async (path, headers = {}) => read(await fetch(`${url}${path}`, { headers })),
    post: async (path, fields, headers = { 'sec-fetch-site': 'same-origin' }) =>
      read(
        await fetch(`${url}${path}`, {
          method: 'POST',
          headers,
          body: new URLSearchParams(fields as Record<string, string>),
        }),
      ),
  };
}

/** What a page says more than once, in a row or folded about what the role of the person may not do. */
export function repeatedRefusals(page: string): readonly string[] {
  const said = [...page.matchAll(/(?:Marketing or an operator|Only an operator) can [^<]*/g)].map(
    ([one]) => one,
  );
  const parts = [...page.matchAll(/<(tr|details)\b.*?<\/\1>/gs)].map(([part]) => part);
  return said.filter((one, at) => said.indexOf(one) < at || parts.some((part) => part.includes(one)));
}

/**
 * Returns the text that a user reads on a page: tags are removed and entities are decoded. Times are as their tooltips
 * say them, in UTC.
 */
export function textOf(page: string): string {
  return page
    .replace(/<time [^>]*title="([^"]*)">[^<]*<\/time>/g, ' $1 ')
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');
}
