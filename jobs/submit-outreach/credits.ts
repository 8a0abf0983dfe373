/** From the section "Limits" of the specification: 0.04 search credits for each influencer added. */
export const HUNDREDTHS_AN_INFLUENCER = 4;

/** The maximum cost of this number of influencers, for example `1.60`. */
export function costOf(influencers: number): string {
  return creditText(influencers * HUNDREDTHS_AN_INFLUENCER);
}

/** Search credits, given in hundredths, for example `1.60`. */
export function creditText(hundredths: number): string {
  return (hundredths / 100).toFixed(2);
}
