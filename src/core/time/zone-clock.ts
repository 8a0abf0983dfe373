import { DAY_MS } from './day.ts';

/** Maximum number of days whose offset is cached. An export covers a few years at most. */
const MAX_DAYS = 4_096;

/** Maximum number of clocks that are kept. A row may name its zone, so a file could name all of them. */
const MAX_CLOCKS = 32;

const clocks = new Map<string, ZoneClock>();

/**
 * Returns the clock of an IANA zone. Making one takes longer than reading a small file, so clocks are kept.
 *
 * @throws RangeError if the zone is unknown.
 */
export function zoneClock(zone: string): ZoneClock {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const clock = new ZoneClock(zone);
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  clocks.set(zone, clock);
  return clock;
}

/**
 * Converts local times of an IANA zone to instants. It calls Intl only twice for each day of the export.
 *
 * A time that the clock shows twice means its first occurrence. A time that the clock skips is computed with
 * the offset before the jump, like `compatible` of Temporal.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offset of a local day in milliseconds. Null if it changes on that day. */
  readonly #days = new Map<number, number | null>();

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Converts a local time to an instant. @param wallMs the local time, in milliseconds as if it were UTC. */
  toInstantMs(wallMs: number): number {
    return wallMs - (this.#offsetOfDay(wallMs) ?? this.#offsetOnChangingDay(wallMs));
  }

  /**
   * Returns all instants at which the clock shows a time, in order: two in an hour that it shows twice, else
   * the one of `toInstantMs`.
   */
  toInstantsMs(wallMs: number): readonly number[] {
    const first = this.toInstantMs(wallMs);
    if (this.#offsetOfDay(wallMs) !== null) return [first];
    const later = wallMs - this.#offsetAt(wallMs + DAY_MS);
    return later > first && this.toWallMs(later) === wallMs ? [first, later] : [first];
  }

  /** Converts an instant to local time, in milliseconds as if it were UTC. */
  toWallMs(instantMs: number): number {
    return instantMs + this.#offsetAt(instantMs);
  }

  /** True if the offset of the zone does not change within a day of an instant. */
  isSteadyAround(instantMs: number): boolean {
    return this.#offsetAt(instantMs - DAY_MS) === this.#offsetAt(instantMs + DAY_MS);
  }

  /** Returns the offset of a local day, or null if it changes on that day. */
  #offsetOfDay(wallMs: number): number | null {
    const day = Math.floor(wallMs / DAY_MS);
    let offset = this.#days.get(day);
    if (offset === undefined) {
      if (this.#days.size >= MAX_DAYS) this.#days.clear();
      // Compare offsets a day before and after, because the offset itself can be up to 14 hours.
      const before = this.#offsetAt((day - 1) * DAY_MS);
      offset = before === this.#offsetAt((day + 2) * DAY_MS) ? before : null;
      this.#days.set(day, offset);
    }
    return offset;
  }

  #offsetOnChangingDay(wallMs: number): number {
    const before = this.#offsetAt(wallMs - DAY_MS);
    const after = this.#offsetAt(wallMs + DAY_MS);
    const isBefore = this.#offsetAt(wallMs - before) === before;
    return isBefore || this.#offsetAt(wallMs - after) !== after ? before : after;
  }

  #offsetAt(instantMs: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(instantMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instantMs / 1000) * 1000;
  }
}
