/** How often a property is tried with other inputs in `npm test`; the campaign `properties` (`.ci/campaigns`) tries it many times as often. */
export function propertyRuns(few: number): number {
  return few * Number(process.env.PROPERTY_TIMES ?? 1);
}

/** How often a job's process is killed in one test; the campaign `kills` does it more often. */
export function killsOfJob(): number {
  return Number(process.env.JOB_KILLS ?? 2);
}
