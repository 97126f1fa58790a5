/** The analytical store of raw records: ClickHouse, whichever way it is reached. */
export interface UsageStore {
  /**
   * Inserts rows, given as newline-separated JSON objects, exactly once per token: the same token with the same
   * rows changes nothing the second time, in the table and in everything its views feed. `table` may name its
   * database: `database.table`.
   */
  insert(table: string, jsonLines: Uint8Array, token: string): Promise<void>

  /**
   * Rows of a query. Parameters are bound on the server: `{name:Type}` in the text. Decimals, and integers beyond
   * 32 bits, come as strings.
   */
  query<Row>(statement: string, parameters?: Readonly<Record<string, unknown>>): Promise<Row[]>

  /** A statement without a result. */
  command(statement: string): Promise<void>

  /** Throws UsageStoreUnavailableError when the store does not answer. */
  ping(): Promise<void>

  close(): Promise<void>
}

/** The store did not answer, or not in time. The statement may or may not have been carried out. */
export class UsageStoreUnavailableError extends Error {
  override readonly name = 'UsageStoreUnavailableError'
}

/** The store answered and refused the statement: sending it again will not help. */
export class UsageStoreStatementError extends Error {
  override readonly name = 'UsageStoreStatementError'
  /** ClickHouse's number and name of the error, for example 60 and UNKNOWN_TABLE. */
  readonly code: number
  readonly type: string

  constructor(message: string, code: number, type: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.type = type
  }
}
