import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { explainIssues } from '../../service/explain-issues.ts';
import type { Context } from '../build-server.ts';
import { type Clock, REAL_TIME } from '../clock.ts';
import { snapshot, takeSnapshot } from '../state/snapshot.ts';
import type { Guard } from './control-state.ts';

/** Large enough for the snapshot of a large account. */
const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

const clockChange = z.strictObject({
  at: z.iso.datetime({ offset: true }).optional(),
  advance_seconds: z.number().min(0).max(3_200_000_000).optional(),
  stopped: z.boolean().optional(),
});

/** Adds the routes that change the time or state of the whole sandbox: clock, reset, snapshot and restore. */
export function addTimeRoutes(server: FastifyInstance, context: Context, onRequest: Guard): void {
  const { clock, kept } = context;
  server.get('/_sandbox/clock', { onRequest }, () => describeClock(clock));
  server.post('/_sandbox/clock', { onRequest }, (request, reply) => {
    const read = clockChange.safeParse(bodyOf(request));
    if (!read.success) return reply.code(400).send({ message: explainIssues(read.error.issues) });
    moveClock(clock, read.data);
    return reply.send(describeClock(clock));
  });
  server.delete('/_sandbox/clock', { onRequest }, () => {
    clock.set(REAL_TIME);
    return describeClock(clock);
  });

  server.post('/_sandbox/reset', { onRequest }, () => {
    context.reset();
    return { message: 'The sandbox is in its initial state.' };
  });
  server.get('/_sandbox/snapshot', { onRequest }, () => takeSnapshot(kept));
  server.post('/_sandbox/restore', { onRequest, bodyLimit: MAX_SNAPSHOT_BYTES }, (request, reply) => {
    const read = snapshot.safeParse(bodyOf(request));
    if (!read.success) return refuse(reply, `This is not a snapshot: ${explainIssues(read.error.issues)}`);
    const isOurs =
      read.data.seed === kept.seed && read.data.account_ids.join('\n') === kept.accountIds.join('\n');
    if (!isOurs)
      return refuse(reply, 'This snapshot belongs to a sandbox with another seed or other accounts.');
    context.restore(read.data);
    return reply.send({ message: 'The sandbox is in the state of the snapshot.' });
  });
}

/** Sets the clock to an instant, then advances it, then stops or starts it. */
function moveClock(clock: Clock, change: z.output<typeof clockChange>): void {
  const { aheadMs, stoppedAtMs } = clock.state();
  const isStopped = change.stopped ?? stoppedAtMs !== null;
  const machineMs = Date.now();
  const nowMs = change.at === undefined ? clock.now() : Date.parse(change.at);
  const ahead = change.at === undefined && stoppedAtMs === null ? aheadMs : nowMs - machineMs;
  clock.set({
    aheadMs: ahead + (change.advance_seconds ?? 0) * 1_000,
    stoppedAtMs: isStopped ? machineMs : null,
  });
}

function describeClock(clock: Clock): object {
  const { aheadMs, stoppedAtMs } = clock.state();
  return {
    now: new Date(clock.now()).toISOString(),
    ahead_seconds: aheadMs / 1_000,
    stopped: stoppedAtMs !== null,
  };
}

function refuse(reply: FastifyReply, message: string): FastifyReply {
  return reply.code(400).send({ message });
}

function bodyOf(request: FastifyRequest): unknown {
  return (request.body as { readonly value?: unknown } | undefined)?.value;
}
