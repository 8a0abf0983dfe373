/** Formats a time in UTC, as all output shows it: `2026-04-10 09:15:03`. */
export function formatInstant(instant: string | number | Date): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}

/** Formats a time in UTC to the minute: `2026-04-10 09:15`. Empty for null. */
export function formatMinute(instant: string | number | Date | null): string {
  return instant === null ? '' : formatInstant(instant).slice(0, 16);
}
