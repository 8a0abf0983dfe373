import type { StateStore } from './state-store.ts';

/** Search credits are counted in hundredths, so that 0.04 credits is a whole number. */
const HUNDREDTHS = 100;

/** The account's remaining credits. Section Limits. */
export type Credits = {
  /** Remaining search credits. */
  search(): number;
  /** Remaining report credits. */
  reports(): number;
  /**
   * Takes an amount of search credits, given in hundredths, or nothing if they do not suffice.
   * @returns true if they were taken.
   */
  spendSearch(hundredths: number): boolean;
  spendReport(): boolean;
  /** Sets the remaining credits. */
  refill(left: { readonly search?: number | undefined; readonly reports?: number | undefined }): void;
};

export type StartingCredits = { readonly search: number; readonly reports: number };

export function createCredits(stateStore: StateStore, start: StartingCredits): Credits {
  const kept = new Map(stateStore.all('credits'));
  let search = Number(kept.get('search') ?? Math.round(start.search * HUNDREDTHS));
  let reports = Number(kept.get('reports') ?? start.reports);

  function keep(): void {
    stateStore.put('credits', 'search', search);
    stateStore.put('credits', 'reports', reports);
  }

  return {
    search: () => search / HUNDREDTHS,
    reports: () => reports,
    spendSearch(hundredths) {
      if (hundredths > search) return false;
      search -= hundredths;
      keep();
      return true;
    },
    spendReport() {
      if (reports < 1) return false;
      reports -= 1;
      keep();
      return true;
    },
    refill(left) {
      search = left.search === undefined ? search : Math.round(left.search * HUNDREDTHS);
      reports = left.reports ?? reports;
      keep();
    },
  };
}
