/** True if a text is a day of the calendar such as `2026-04-30`, in the years 1 to 9999. */
export function isDay(text: string): boolean {
  const isWritten = /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text);
  return isWritten && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}
