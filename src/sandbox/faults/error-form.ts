/** The forms in which services tell an error, each as the body of an answer with that text. Section Errors shows the first two. */
export const ERROR_FORMS = {
  message: (text: string): unknown => ({ message: text }),
  error: (text: string): unknown => ({ error: text }),
  'error.message': (text: string): unknown => ({ error: { message: text } }),
  error_message: (text: string): unknown => ({ error_message: text }),
  errors: (text: string): unknown => ({ errors: [text] }),
  'errors.message': (text: string): unknown => ({ errors: [{ message: text }] }),
  /** Plain text, as a proxy sends it. */
  not_json: (text: string): string => text,
} as const;

export type ErrorForm = keyof typeof ERROR_FORMS;
