/** True if a text is a month such as `2026-10`, in the years 1000 to 9999. */
export function isMonth(text: string): boolean {
  return /^[1-9]\d{3}-(0[1-9]|1[0-2])$/.test(text);
}

/** Returns the last month that is over in a time zone: `2026-10`. */
export function monthBefore(now: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' }).format(now);
  const [year = 0, month = 0] = parts.split('-').map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

/** Returns the last day of a month: `2026-02-28` for `2026-02`. */
export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/** Returns consecutive months, the last one last: `2026-01`, `2026-02` for 2 months to `2026-02`. */
export function monthsUntil(last: string, count: number): readonly string[] {
  const [year = 0, number = 1] = last.split('-').map(Number);
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.UTC(year, number - count + index, 1)).toISOString().slice(0, 7),
  );
}

/** Returns the month after another: `2027-01` for `2026-12`. */
export function monthAfter(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 7);
}
