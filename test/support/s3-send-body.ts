import type { ServerResponse } from 'node:http';
import type { Fault } from './s3-faults.ts';

/** Size of a piece that is written at once. If a client stops early, the next piece shows it. */
const PIECE_BYTES = 64 * 1_024;

/** Sends a body, altered according to the fault. Waits for slow clients. */
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

/**
 * Sends bytes piece by piece, and waits until the system has accepted each. So a slow client is waited for,
 * and a cut happens only after the previous bytes were sent.
 */
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
