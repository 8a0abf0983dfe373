/** The value of a variable that the configuration names, or why the place it is kept in gives none. */
export type Variable =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string; readonly help: string };

/** Where AWS keeps the value of a variable. */
export type StoredSecret = {
  /** The variable whose value it is: `INFLUENCER_API_KEY`. */
  readonly name: string;
  /** The one that says where it is: `INFLUENCER_API_KEY_AWS_SECRET`. */
  readonly variable: string;
  readonly store: 'Secrets Manager' | 'Parameter Store';
  /** Its name, or its ARN. */
  readonly id: string;
  /** The key of the value in what is a JSON object; null: all of the text. */
  readonly jsonKey: string | null;
};

/** What AWS gave for the variables of that name. */
export type StoredVariables = ReadonlyMap<string, Variable>;
