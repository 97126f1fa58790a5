/** The analytical store of raw records: ClickHouse, whichever way it is reached. */
export interface UsageStore {
  /**
   * Inserts rows, given as newline-separated JSON objects, exactly once per token: the same token with the same
   * rows changes nothing the second time, in the table and in everything its views feed.
   */
  insert(table: string, jsonLines: Uint8Array, token: string): Promise<void>

  /** Rows of a query. Parameters are bound on the server: `{name:Type}` in the text. Integers beyond 32 bits come as strings. */
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
