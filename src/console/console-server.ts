import { readFileSync } from 'node:fs';
import { maxHeaderSize } from 'node:http';
import compress from '@fastify/compress';
import formBody from '@fastify/formbody';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { PipelineConfig } from '../config/schema.ts';
import { errorCode } from '../core/error-code.ts';
import { packageFile } from '../core/package.ts';
import { isTimeZone } from '../core/time/time-zone.ts';
import type { Database } from '../db/connect.ts';
import { cached } from '../monitoring/observe/cached.ts';
import { html } from '../render/html/html.ts';
import { findAudit } from '../reports/list-audit.ts';
import { spellBrand, spellDeal } from '../reports/lives/find-subjects.ts';
import { readChangeVersion } from '../reports/status/read-overview.ts';
import type { Authenticate } from './access/authenticate.ts';
import { permits, whyForbidden } from './access/permissions.ts';
import type { ProviderSignIn } from './access/provider.ts';
import type { Actor, Download, LinkValue, ShownPage, Visit } from './console-page.ts';
import { createLiveUpdates } from './live-updates.ts';
import { pageFrame } from './markup/page-frame.ts';
import { showingOf } from './markup/parts.ts';
import { type PlacedPage, pages } from './pages/index.ts';
import { addActions } from './perform-action.ts';
import { BadQuery, checkCharacters, idOf } from './read-query.ts';
import { findWaiting } from './waiting.ts';

export type ConsoleOptions = {
  /** Connection for pages; its statements time out after seconds. */
  readonly readDb: Database;
  /** Connection for changes. */
  readonly db: Database;
  readonly config: PipelineConfig;
  /** Address on which the server listens. It decides whether people must sign in. */
  readonly host: string;
  /** Name of the person at this machine. */
  readonly localActor: string;
  readonly onError: (error: unknown) => void;
  /** Called when the pages have been loaded, which leaves much garbage. */
  readonly onLoaded?: () => void;
};

export type ConsoleServerOptions = ConsoleOptions & {
  readonly authenticate: Authenticate;
  readonly provider: ProviderSignIn | null;
  /** Called after a change was committed. */
  readonly onChanged: () => void;
};

/** Headers that restrict a page to resources and forms of this server. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const;

const ASSETS: readonly { readonly name: string; readonly type: string; readonly file: () => URL }[] = [
  { name: 'console.css', type: 'text/css', file: () => packageFile('src/console/assets/console.css') },
  { name: 'console.js', type: 'text/javascript', file: () => packageFile('src/console/assets/console.js') },
  { name: 'icon.svg', type: 'image/svg+xml', file: () => packageFile('src/console/assets/icon.svg') },
  {
    name: 'htmx.js',
    type: 'text/javascript',
    file: () => new URL(import.meta.resolve('htmx.org/dist/htmx.min.js')),
  },
];

/** Creates the console as a server that does not listen. `add-console.ts` hands it the requests. */
export function createConsoleServer(options: ConsoleServerOptions): FastifyInstance {
  const { config, authenticate, provider } = options;
  // Ids of orders and files may be long, and Fastify's own answer would not be a page. Node refuses longer addresses.
  const server = Fastify({ routerOptions: { maxParamLength: maxHeaderSize } });
  if (provider !== null)
    void server.register(
      async (scope) => {
        await scope.register(formBody);
        provider.addRoutes(scope);
      },
      { prefix: config.console.basePath },
    );
  void server.register(
    async (scope) => {
      await scope.register(formBody);
      // Does not affect /live, which bypasses the hooks, so that its events arrive one by one.
      await scope.register(compress, { encodings: ['br', 'gzip'], globalDecompression: false });
      const actors = new WeakMap<FastifyRequest, Actor>();
      const actorOf = (request: FastifyRequest): Actor => actors.get(request) ?? { name: '', role: 'viewer' };
      const answers = createAnswers({ ...options, actorOf });
      scope.addHook('onRequest', async (request, reply) => {
        reply.headers(HEADERS);
        const signIn = await authenticate({ headers: request.headers, address: request.ip });
        if (signIn.kind === 'actor') {
          actors.set(request, signIn.actor);
          const permission = permissionFor(request, config.console.basePath);
          if (permission === null || permits(signIn.actor.role, permission)) return;
          const why = whyForbidden(signIn.actor, permission);
          await answers.refuse(request, reply, { status: 403, why });
          return reply;
        }
        if (signIn.status === 401 && provider !== null && isNavigation(request))
          return reply.redirect(provider.startAt(request.url), 303);
        if (signIn.status === 401 && config.console.users.length > 0)
          reply.header('www-authenticate', 'Basic realm="influencer-sync", charset="UTF-8"');
        return reply.code(signIn.status).type('text/plain; charset=utf-8').send(`${signIn.why}\n`);
      });
      addAssets(scope);
      addPages(scope, { ...options, actorOf, answers });
      addLive(scope, options);
    },
    { prefix: config.console.basePath },
  );
  return server;
}

/**
 * @returns true if the browser opens a page. Only such a request can be redirected to another site, unlike
 *   one of a script.
 */
function isNavigation({ method, headers }: FastifyRequest): boolean {
  if (method !== 'GET') return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

function addAssets(scope: FastifyInstance): void {
  for (const { name, type, file } of ASSETS) {
    const content = readFileSync(file());
    scope.get(`/assets/${name}`, (_request, reply) =>
      reply.type(`${type}; charset=utf-8`).header('cache-control', 'max-age=300').send(content),
    );
  }
}

function addLive(scope: FastifyInstance, { readDb }: ConsoleOptions): void {
  const updates = createLiveUpdates(() => readChangeVersion(readDb));
  scope.get('/live', (_request, reply) => {
    reply.hijack();
    updates.add(reply.raw);
  });
  scope.addHook('preClose', async () => updates.close());
}

type Served = ConsoleServerOptions & { readonly actorOf: (request: FastifyRequest) => Actor };
type Answers = ReturnType<typeof createAnswers>;

/** @returns what the person must be permitted; null for an address that leads nowhere. */
function permissionFor({ method, routeOptions }: FastifyRequest, basePath: string): string | null {
  const path = routeOptions.url?.slice(basePath.length);
  return path === undefined ? null : `${method === 'HEAD' ? 'GET' : method} ${path || '/'}`;
}

/** Creates what answers with a whole page. */
function createAnswers(served: Served) {
  // For the header of every page, so it may be some seconds old; but a person sees what they changed.
  const finder = () => cached(() => findWaiting(served.readDb, { ...served, isCount: true }));
  let findCounted = finder();
  const send = async (
    reply: FastifyReply,
    visit: Visit,
    { status, ...shown }: ShownPage & { readonly notice?: string; readonly page?: PlacedPage },
  ): Promise<FastifyReply> => {
    if (status !== undefined) reply.code(status);
    const waiting = await (shown.page?.path === '/' ? visit.waiting() : findCounted());
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(pageFrame(visit, { page: null, waiting, ...shown }));
  };
  return {
    send,
    /** Answers with a page that says why nothing was done. */
    refuse: (
      request: FastifyRequest,
      reply: FastifyReply,
      { status, why }: { status: 400 | 403 | 409; why: string },
    ): Promise<FastifyReply> =>
      send(reply.code(status), visitOf(request, served), {
        title: request.method === 'POST' ? 'Nothing was changed' : 'Not for your role',
        content: html`<p class="notice red" role="alert" data-answer>${why}</p>${request.method === 'POST' ? html`<p>Go back and reload the page to see the present state.</p>` : null}`,
      }),
    onChanged() {
      findCounted = finder();
      served.onChanged();
    },
  };
}

function addPages(
  scope: FastifyInstance,
  { answers, ...served }: Served & { readonly answers: Answers },
): void {
  const { send } = answers;
  for (const page of pages)
    scope.get(page.path, async (request, reply) => {
      const asked = visitOf(request, served);
      try {
        checkCharacters([...asked.query, ...Object.entries(asked.params)]);
        const visit = await withKnownIds(asked);
        const done = idOf(visit, 'done');
        const record = done === null ? null : await findAudit(visit.db, done);
        const shown = await page.show(visit);
        if ('redirect' in shown) return await reply.redirect(shown.redirect, 303);
        if ('download' in shown) return sendFile(reply, shown.download);
        return send(reply, visit, { ...shown, page, ...(record === null ? {} : { notice: record.summary }) });
      } catch (error) {
        const unusable = whyUnusable(error);
        if (unusable !== null)
          return send(
            reply.code(400),
            { ...asked, query: new URLSearchParams() },
            {
              page,
              title: 'The address cannot be used',
              content: html`<p class="notice red" role="alert">${unusable}</p>`,
            },
          );
        // SQLSTATE query_canceled: the statement exceeded the time limit of pages.
        if (errorCode(error) !== '57014') throw error;
        const why =
          'The database did not answer in time. Narrow the filter, or try again when it has less to do.';
        return send(reply.code(503), asked, { title: 'Not now', content: html`<p>${why}</p>`, page });
      }
    });
  addActions(scope, { ...served, ...answers });
  scope.setNotFoundHandler((request, reply) =>
    send(reply.code(404), visitOf(request, served), {
      title: 'There is no such page',
      content: html`<p>Use the navigation, or search for an order. Probes and metrics are at /healthz, /readyz and /metrics.</p>`,
    }),
  );
  scope.setErrorHandler((error, request, reply) => {
    const { statusCode = 500 } = error as { readonly statusCode?: number };
    if (statusCode >= 500) served.onError(error);
    return send(reply.code(statusCode), visitOf(request, served), {
      title: statusCode >= 500 ? 'Something went wrong' : 'The request cannot be processed',
      content: html`<p>${statusCode >= 500 ? 'The page could not be made. The log of the process says more, and doctor checks the database.' : 'The server could not read the request.'}</p>`,
    });
  });
}

/** Sends a file as a download that the browser never displays, because others wrote its content. */
function sendFile(reply: FastifyReply, { name, type, content }: Download): FastifyReply {
  return (
    reply
      .type(typeof content === 'string' ? `${type}; charset=utf-8` : type)
      .header('cache-control', 'no-store')
      .header('content-disposition', `attachment; filename="${name.replace(/[^\w.-]+/g, '_')}"`)
      // Spreadsheets take a file without this mark for one in the encoding of the machine.
      .send(type === 'text/csv' ? `\ufeff${content}` : content)
  );
}

function visitOf(request: FastifyRequest, { readDb, config, actorOf, onError }: Served): Visit {
  const { pathname, searchParams: query } = new URL(request.url, 'http://console');
  const actor = actorOf(request);
  const chosen = query.get('zone');
  const zone = chosen !== null && isTimeZone(chosen) ? chosen : config.console.timeZone;
  const link: Visit['link'] = (path, values = {}) =>
    linkTo(`${config.console.basePath}${path}`, chosen === null ? values : { ...values, zone });
  let waiting: ReturnType<typeof findWaiting> | null = null;
  return {
    db: readDb,
    config,
    actor,
    may: (permission) =>
      permits(actor.role, permission) &&
      (permission.startsWith('GET ') || permission.startsWith('see ') || !config.console.readOnly),
    path: pathname.slice(config.console.basePath.length) || '/',
    params: request.params as Readonly<Record<string, string>>,
    query,
    now: new Date(),
    zone,
    waiting: () => {
      waiting ??= findWaiting(readDb, { config, onError });
      return waiting;
    },
    link,
    ...showingOf({ link, zone }),
  };
}

function linkTo(path: string, values: Readonly<Record<string, LinkValue>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat())
      if (one !== null && one !== undefined && one !== '') query.append(name, String(one));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The same visit, with jobs, sources and deals as they are written, if the address has them in another case; brands by id. */
async function withKnownIds(visit: Visit): Promise<Visit> {
  const { config, db } = visit;
  const [query, params] = [new URLSearchParams(visit.query), { ...visit.params }];
  for (const [name, known] of [
    ['job', config.jobs],
    ['source', config.sources],
  ] as const) {
    const text = query.get(name)?.trim().toLowerCase();
    const found = Object.keys(known).find((one) => one.toLowerCase() === text);
    if (found !== undefined) query.set(name, found);
  }
  const deal = query.get('deal')?.trim();
  if (deal) query.set('deal', await spellDeal(db, deal));
  const brand = query.get('brand')?.trim();
  if (brand) query.set('brand', await spellBrand(db, brand));
  if (params.deal !== undefined) params.deal = await spellDeal(db, params.deal);
  return { ...visit, query, params };
}

/**
 * SQLSTATEs of values that cannot be read: text, number, date, key of a row. Pages only read, so the value comes
 * from the address.
 */
const UNREADABLE = ['22P02', '22P05', '22003', '22007', '22008', '22021', '22023'];

/** Why the address cannot be used; null if the error has another reason. */
function whyUnusable(error: unknown): string | null {
  if (error instanceof BadQuery) return error.message;
  const isUnreadable = UNREADABLE.includes(errorCode(error) ?? '');
  return isUnreadable
    ? 'A value in the address is not what the page expects there: a number, a date or a text. Correct it, or open the page without the part after the question mark.'
    : null;
}
