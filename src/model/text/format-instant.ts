/** `2026-04-10 09:15:03`, in UTC, as every time that is shown. */
export function formatInstant(instant: string | Date): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ');
}
