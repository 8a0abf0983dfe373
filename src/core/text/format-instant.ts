/** Formats a time in UTC, as all output shows it: `2026-04-10 09:15:03`. */
export function formatInstant(instant: string | Date): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}
