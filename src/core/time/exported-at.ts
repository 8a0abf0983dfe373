/** Packages write times such as 1970 or 1985 for all of their files. */
export const EARLIEST_EXPORT = '2000-01-01T00:00:00Z';

/**
 * Time by which something may seem to have happened after its export. The local times of two zones differ by up to 26
 * hours (UTC−12, UTC+14), so a wrong zone or a clock that is fast is not mistaken for a wrong date. Day and month that
 * were swapped differ by a month or so.
 */
export const LATEST_HOURS = 26;

/** The time by which a file that exists now was written: when it was stored, if the store says when, else now. */
export function exportedAtMs(modifiedAt: Date | null): number {
  const now = Date.now();
  const stored = modifiedAt?.getTime() ?? now;
  return stored < Date.parse(EARLIEST_EXPORT) ? now : Math.min(stored, now);
}

/** The latest time that an export of this time may state. Both in milliseconds since 1970. */
export function latestTimeMs(exportedAtMs: number): number {
  return exportedAtMs + LATEST_HOURS * 3_600_000;
}
