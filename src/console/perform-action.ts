import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PipelineConfig } from '../config/schema.ts';
import { KnownError } from '../core/known-error.ts';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { requireWholeLedger } from '../ledger/continuity/compare-ledger.ts';
import { recordAudit } from '../ops/record-audit.ts';
import { findForeignOrigin, localPath } from './access/check-origin.ts';
import { permits, whyForbidden } from './access/permissions.ts';
import { actions } from './actions/index.ts';
import { type Actor, type Change, type ConsoleAction, Refused } from './console-page.ts';

export type PerformOptions = {
  /** Connection for writing. */
  readonly db: Database;
  readonly config: PipelineConfig;
  readonly actorOf: (request: FastifyRequest) => Actor;
  readonly onError: (error: unknown) => void;
  /** Called after a change was committed. */
  readonly onChanged: () => void;
  /** Answers with a page that explains why nothing was changed. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    refusal: { readonly status: 400 | 403 | 409; readonly why: string },
  ) => Promise<unknown>;
};

/**
 * Adds the routes of all actions. Every change passes through here: origin, form, decision, transaction, audit. Whether
 * the role may use the route is checked before, as for every route.
 */
export function addActions(server: FastifyInstance, options: PerformOptions): void {
  for (const action of actions)
    server.post(action.path, (request, reply) => performAction(request, reply, { ...options, action }));
}

async function performAction(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    db,
    config,
    actorOf,
    onError,
    onChanged,
    refuse,
    action,
  }: PerformOptions & { readonly action: ConsoleAction },
): Promise<unknown> {
  const actor = actorOf(request);
  const foreign = findForeignOrigin(request.headers);
  if (foreign !== null) return refuse(request, reply, { status: 403, why: foreign });
  if (config.console.readOnly)
    return refuse(request, reply, {
      status: 403,
      why: 'The console is read-only here (console.read_only). Use the command, or a console that is not read-only.',
    });
  // Fields that occur several times (checkboxes) are lists.
  const { return_to: returnTo, ...fields } =
    typeof request.body === 'object' && request.body !== null
      ? (request.body as Readonly<Record<string, string | readonly string[]>>)
      : {};
  const requireRight = (permission: string): void => {
    if (!permits(actor.role, permission)) throw new Refused(whyForbidden(actor, permission), 403);
  };
  // No text of the database has this character, and the query that gets it would fail.
  if (Object.entries(fields).some((field) => field.flat().some((text) => text.includes('\u0000'))))
    return refuse(request, reply, { status: 400, why: 'A field contains a NUL character (%00): remove it.' });
  const asked = action.read(fields);
  if ('problems' in asked) return refuse(request, reply, { status: 400, why: asked.problems.join(' ') });
  const followUps: ((db: Database) => Promise<unknown>)[] = [];
  let shownNext = localPath(returnTo) ?? `${config.console.basePath}/`;
  try {
    await requireWholeLedger(db, config);
    const auditId = await inTransaction(db, async (trx) => {
      const written = { auditId: '' };
      const audit: Change['audit'] = async (record) => {
        written.auditId = await recordAudit(trx, { ...record, actor: actor.name, via: 'console' });
        return written.auditId;
      };
      const afterwards = (work: (db: Database) => Promise<unknown>): void => void followUps.push(work);
      const leadTo = (path: string): void => {
        shownNext = `${config.console.basePath}${path}`;
      };
      if (typeof fields.decision === 'string') requireRight(`decide ${fields.decision}`);
      await asked.perform({ trx, config, decidedBy: actor.name, requireRight, audit, afterwards, leadTo });
      if (written.auditId === '') throw new Error(`${action.path} wrote no audit record`);
      return written.auditId;
    });
    onChanged();
    for (const followUp of followUps) await followUp(db).catch(onError);
    const target = new URL(shownNext, 'http://console');
    target.searchParams.set('done', auditId);
    return await reply.redirect(`${target.pathname}${target.search}`, 303);
  } catch (error) {
    if (error instanceof Refused) return refuse(request, reply, { status: error.status, why: error.message });
    if (error instanceof KnownError)
      return refuse(request, reply, { status: 409, why: `${error.details.message} ${error.details.help}` });
    throw error;
  }
}
