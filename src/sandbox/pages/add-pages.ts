import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../service/reference/openapi.ts';
import type { Context } from '../build-server.ts';
import type { Guard } from '../control/control-state.ts';
import { renderAccounts } from './account-page.ts';
import { renderDocs } from './docs-page.ts';
import { PAGE_HEADERS } from './page.ts';

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
