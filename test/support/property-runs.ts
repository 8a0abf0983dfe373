/**
 * Number of random inputs for each property in `npm test`. The campaign `properties` (`.ci/campaigns`)
 * multiplies it.
 */
export function propertyRuns(few: number): number {
  return few * Number(process.env.PROPERTY_TIMES ?? 1);
}

/** How often the process of a job is killed in one test. The campaign `kills` kills it more often. */
export function killsOfJob(): number {
  return Number(process.env.JOB_KILLS ?? 2);
}
