const DAY_MS = 86_400_000;
/** Days whose offset is remembered; an export spans a few years at most. */
const MAX_DAYS = 4_096;

/**
 * Turns wall-clock times of an IANA zone into instants. Asks Intl only twice a day of the export.
 *
 * An hour that the clock shows twice means its first pass; a time that the clock skips is counted on with the offset before the jump
 * (as Temporal's `compatible` does).
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offset of a local day in ms; null: it changes on that day. */
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

  /** @param wallMs the wall-clock time, as milliseconds as if it were UTC. */
  toInstantMs(wallMs: number): number {
    return wallMs - (this.#offsetOfDay(wallMs) ?? this.#offsetOnChangingDay(wallMs));
  }

  /** All instants at which the clock shows a time, in order: two in an hour that it shows twice; else the one of `toInstantMs`. */
  toInstantsMs(wallMs: number): readonly number[] {
    const first = this.toInstantMs(wallMs);
    if (this.#offsetOfDay(wallMs) !== null) return [first];
    const later = wallMs - this.#offsetAt(wallMs + DAY_MS);
    return later > first && this.toWallMs(later) === wallMs ? [first, later] : [first];
  }

  /** What the clock shows at an instant, as milliseconds as if it were UTC. */
  toWallMs(instantMs: number): number {
    return instantMs + this.#offsetAt(instantMs);
  }

  /** Whether the clock neither jumps nor goes back within a day of an instant. */
  isSteadyAround(instantMs: number): boolean {
    return this.#offsetAt(instantMs - DAY_MS) === this.#offsetAt(instantMs + DAY_MS);
  }

  /** Null: it changes on that day. */
  #offsetOfDay(wallMs: number): number | null {
    const day = Math.floor(wallMs / DAY_MS);
    let offset = this.#days.get(day);
    if (offset === undefined) {
      if (this.#days.size >= MAX_DAYS) this.#days.clear();
      // A day either side, since the offset itself is up to 14 hours.
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
