import type { HoldReason } from '../source.ts';
import { toPrintableLine } from '../text/printable.ts';

/**
 * A whole file cannot be trusted (truncated, damaged, replaced, another header). A step of reading throws this
 * error; the pipeline holds the file and continues.
 */
export class FileHeld extends Error {
  readonly reason: HoldReason;

  constructor(reason: HoldReason, cause?: unknown) {
    // The message quotes file names and headers, and must fit on one line.
    const message = toPrintableLine(reason.message);
    super(message, { cause });
    this.name = 'FileHeld';
    this.reason = { ...reason, message };
  }
}
