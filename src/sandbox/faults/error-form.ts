/**
 * The forms that services use for an error message, each as the body of an answer. Section Errors shows the
 * first two.
 */
export const ERROR_FORMS = {
  message: (text: string): unknown => ({ message: text }),
  error: (text: string): unknown => ({ error: text }),
  'error.message': (text: string): unknown => ({ error: { message: text } }),
  error_message: (text: string): unknown => ({ error_message: text }),
  errors: (text: string): unknown => ({ errors: [text] }),
  'errors.message': (text: string): unknown => ({ errors: [{ message: text }] }),
  /** Plain text, like a proxy's answer. */
  not_json: (text: string): string => text,
} as const;

export type ErrorForm = keyof typeof ERROR_FORMS;
