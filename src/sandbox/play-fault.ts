import type { FastifyReply } from 'fastify';
import { ERROR_FORMS, type FaultRule } from './faults.ts';
import type { Answer } from './operations/operation.ts';

/** What a fault is played on. */
export type Stage = {
  readonly reply: FastifyReply;
  readonly rule: FaultRule;
  /** The operation's answer if the request is processed, otherwise a stand-in. */
  readonly answer: Answer;
  /** Stops listening for this number of milliseconds. */
  readonly goDown: (ms: number) => void;
};

const DOWN_MS = 1_000;

/**
 * Plays one fault in place of the answer.
 *
 * @returns the status that was sent; null if none was.
 */
export function playFault({ reply, rule, answer, goDown }: Stage): number | null {
  switch (rule.kind) {
    case 'refuse':
      goDown(rule.ms ?? DOWN_MS);
      return reset(reply);
    case 'reset_before':
    case 'reset_after':
      return reset(reply);
    case 'stall_before':
    case 'stall_after':
      return stall(reply, rule.ms);
    case 'stall_body':
      sendHalf(reply, answer, () => closeAfter(reply, rule.ms));
      return answer.status;
    case 'cut_body':
      sendHalf(reply, answer, () => reply.raw.socket?.destroy());
      return answer.status;
    case 'error_before':
    case 'error_after':
      return sendError(reply, rule, { status: 500, text: 'Something went wrong on our side.' });
    case '401':
      return sendError(reply, rule, { status: 401, text: 'Invalid API key.' });
    case '429':
      if (rule.retry_after !== undefined) reply.header('retry-after', retryAfterText(rule.retry_after));
      return sendError(reply, rule, { status: 429, text: 'Too many requests.' });
    case 'redirect':
      reply.header('location', '/elsewhere');
      return send(reply, rule.status ?? 302, '');
    case 'html':
      reply.type('text/html; charset=utf-8');
      return send(
        reply,
        rule.status ?? 200,
        '<!doctype html><title>Maintenance</title><h1>We will be back soon</h1>',
      );
    case 'canned':
      reply.type(
        typeof rule.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
      );
      reply.headers(rule.headers ?? {});
      return send(
        reply,
        rule.status ?? 200,
        typeof rule.body === 'string' ? rule.body : JSON.stringify(rule.body ?? {}),
      );
    case 'empty':
      return send(reply, rule.status ?? 200, '');
    case 'latency':
      return send(reply, answer.status, answer.body);
  }
}

/** @param usual the status and text to use if the rule gives none. */
function sendError(
  reply: FastifyReply,
  { status, text, form = 'message' }: FaultRule,
  usual: { readonly status: number; readonly text: string },
): number {
  const body = ERROR_FORMS[form](text ?? usual.text);
  if (typeof body === 'string') reply.type('text/plain; charset=utf-8');
  return send(reply, status ?? usual.status, body);
}

function send(reply: FastifyReply, status: number, body: unknown): number {
  reply.code(status).send(body);
  return status;
}

function reset(reply: FastifyReply): null {
  reply.hijack();
  reply.raw.socket?.resetAndDestroy();
  return null;
}

function stall(reply: FastifyReply, ms: number | undefined): null {
  reply.hijack();
  closeAfter(reply, ms);
  return null;
}

function closeAfter(reply: FastifyReply, ms: number | undefined): void {
  if (ms !== undefined) setTimeout(() => reply.raw.socket?.destroy(), ms).unref();
}

/** Sends headers that announce the whole body, then only its first half. */
function sendHalf(reply: FastifyReply, answer: Answer, then: () => void): void {
  const bytes = Buffer.from(JSON.stringify(answer.body));
  reply.hijack();
  reply.raw.writeHead(answer.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  });
  reply.raw.write(bytes.subarray(0, bytes.length >> 1), then);
}

function retryAfterText(value: number | string): string {
  const seconds = typeof value === 'string' ? /^date:(-?\d+)$/.exec(value)?.[1] : undefined;
  return seconds === undefined ? String(value) : new Date(Date.now() + Number(seconds) * 1000).toUTCString();
}
