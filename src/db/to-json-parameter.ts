/**
 * Encodes many rows as one JSON parameter. Postgres refuses NUL and lone surrogates in text, so a NUL is
 * dropped and a lone surrogate becomes U+FFFD.
 */
export function toJsonParameter(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON.stringify escapes exactly these two. Searching for the escapes is much cheaper than a replacer for
  // every value.
  if (!json.includes('\\u0000') && !json.includes('\\ud')) return json;
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\u0000', '').toWellFormed() : inner,
  );
}
