/** Languages in which creators can get their statement. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'nl'] as const;
export type Language = (typeof LANGUAGES)[number];

/** How each language writes numbers and dates. */
export const LOCALES: Readonly<Record<Language, string>> = {
  en: 'en-GB',
  de: 'de-DE',
  fr: 'fr-FR',
  es: 'es-ES',
  nl: 'nl-NL',
};

export function isLanguage(text: string): text is Language {
  return LANGUAGES.some((language) => language === text);
}
