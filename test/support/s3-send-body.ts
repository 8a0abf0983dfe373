import type { ServerResponse } from 'node:http';
import type { Fault } from './s3-faults.ts';

/** What is written at once; a client that stops early shows within the next piece. */
const PIECE_BYTES = 64 * 1_024;

/** Sends a body, spoilt as the fault says. Slow clients are waited for. */
export async function sendBody(
  response: ServerResponse,
  { body, fault }: { readonly body: Buffer; readonly fault: Fault | null },
): Promise<void> {
  const stopAt =
    fault !== null && 'afterBytes' in fault ? Math.min(fault.afterBytes, body.length) : body.length;
  await send(response, fault?.kind === 'damage' ? damage(body, fault.atByte) : body.subarray(0, stopAt));
  if (fault?.kind === 'meanwhile') {
    fault.act();
    if (fault.thenCut) return void response.destroy();
    return send(response, body.subarray(stopAt)).then(() => void response.end());
  }
  const isCut = fault?.kind === 'cut' || (fault?.kind === 'end' && fault.thenCut);
  if (isCut) return void response.destroy();
  if (fault?.kind !== 'stall') response.end();
}

/** Piece by piece, each handed to the system before the next: a slow client is waited for, and a cut comes after what was sent. */
async function send(response: ServerResponse, bytes: Buffer): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
  for (let at = 0; at < bytes.length && !response.destroyed; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    await Promise.race([new Promise<void>((resolve) => response.write(piece, () => resolve())), closed]);
  }
}

function damage(body: Buffer, at: number): Buffer {
  const damaged = Buffer.from(body);
  damaged[at] = (damaged[at] ?? 0) ^ 0x01;
  return damaged;
}
