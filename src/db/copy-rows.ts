/**
 * Rows for `copy … from stdin`, as `TextRows` or `BinaryRows` writes them. The statement has them as its only
 * parameter, within a comment, because COPY has no parameters. Only for a server (`canCopy`): the embedded database
 * does not read from its client.
 */
export class CopyRows {
  readonly bytes: Buffer;

  /** Creates the parameter. @param bytes rows in the format that the statement names. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}
