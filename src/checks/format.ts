/** `12,400`. */
export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** `12.5 %`, from a share of 0 to 1. */
export function formatShare(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}
