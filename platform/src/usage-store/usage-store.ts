/** The analytical store of raw records: ClickHouse, whichever way it is reached. */
export interface UsageStore {
  /**
   * Inserts rows exactly once per token: the same token with the same rows changes nothing the second time, in the
   * table and in everything its views feed. A single server that is killed during the insert may know the token and lack
   * the rows, in the table or behind a view. A caller that repeats a failed insert must read what is stored (see
   * docs/decisions/clickhouse.md, A redo looks at what is stored). `table` may name its database: `database.table`. Columns
   * may come in any order. A column that the rows lack takes its default, and one that the table lacks is an error.
   */
  insert<Row>(
    table: string,
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    token: string,
  ): Promise<void>

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

/** One column of rows to insert: its name in the table, the type its values are sent as, and where a row has its value. */
export type Column<Row> =
  | {
      readonly name: string
      readonly type: 'String'
      readonly value: (row: Row) => string
    }
  | {
      readonly name: string
      readonly type: 'UInt32' | 'UInt64' | 'Decimal(18, 6)' | "DateTime64(3, 'UTC')"
      /** A safe integer: of a decimal its 10^-6 units, of a time its Unix milliseconds. */
      readonly value: (row: Row) => number
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
