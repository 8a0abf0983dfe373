/** Groups digits: `1234567` becomes `1,234,567`. */
export function formatCount(count: number | string): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A count with its noun: `1 order`, `2 orders`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
