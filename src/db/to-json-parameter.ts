/**
 * One JSON parameter for many rows. NUL and lone surrogates, which Postgres refuses in text, are taken out: a NUL is dropped, a lone
 * surrogate becomes U+FFFD.
 */
export function toJsonParameter(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON.stringify escapes exactly these two; looking for them is far cheaper than a replacer for every value.
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\u0000', '').toWellFormed() : inner,
  );
}
