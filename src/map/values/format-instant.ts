import type { InstantText } from '../../model/order.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 4_096;

/**
 * Makes a function that writes an instant as `2026-04-10T05:41:26Z`. It remembers days, of which an export has few: several times as
 * quick as Date's own.
 */
export function instantFormatter(): (ms: number) => InstantText {
  const days = new Map<number, string>();
  const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
  return (ms) => {
    const day = Math.floor(ms / DAY_MS);
    let date = days.get(day);
    if (date === undefined) {
      if (days.size >= MAX_DAYS) days.clear();
      date = new Date(day * DAY_MS).toISOString().slice(0, 11);
      days.set(day, date);
    }
    const seconds = Math.floor((ms - day * DAY_MS) / 1000);
    const minutes = Math.floor(seconds / 60);
    return `${date}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}Z`;
  };
}
