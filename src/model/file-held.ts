import type { HoldReason } from './source.ts';
import { toPrintableLine } from './text/printable.ts';

/** A whole file cannot be trusted (cut, damaged, replaced, another header). Thrown by a stage; the pipeline holds the file and goes on. */
export class FileHeld extends Error {
  readonly reason: HoldReason;

  constructor(reason: HoldReason, cause?: unknown) {
    // It quotes names and headers, and stands within a line.
    const message = toPrintableLine(reason.message);
    super(message, { cause });
    this.name = 'FileHeld';
    this.reason = { ...reason, message };
  }
}
