/** `get_search` and `affiliate tracking` as names of members: `getSearch`, `affiliateTracking`. */
export function camelCase(words: string): string {
  return words.replace(/[_ ](\w)/g, (_, letter: string) => letter.toUpperCase());
}
