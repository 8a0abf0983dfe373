/** A day without a change of clocks, in milliseconds. */
export const DAY_MS = 86_400_000;

/** True if a text is a day of the calendar such as `2026-04-30`, in the years 1900 to 9999: an earlier one is a slip. */
export function isDay(text: string): boolean {
  const isWritten = /^(?:19|[2-9]\d)\d{2}-\d{2}-\d{2}$/.test(text);
  return isWritten && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}

/** Returns the day that it is in a time zone: `2026-10-25`. */
export function dayIn(now: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(now);
}
