/** The value of a variable that the configuration names, or the reason why it cannot be read. */
export type Variable =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string; readonly help: string };

/** Where AWS stores the value of a variable. */
export type StoredSecret = {
  /** The variable that gets the value: `INFLUENCER_API_KEY`. */
  readonly name: string;
  /** The variable that contains the location: `INFLUENCER_API_KEY_AWS_SECRET`. */
  readonly variable: string;
  readonly store: 'Secrets Manager' | 'Parameter Store';
  /** The name or ARN of the secret. */
  readonly id: string;
  /** Key of the value within a JSON object. Null: the whole text is the value. */
  readonly jsonKey: string | null;
};

/** The values from AWS, by the name of the variable. */
export type StoredVariables = ReadonlyMap<string, Variable>;
