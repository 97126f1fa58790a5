import type { Readable } from 'node:stream'

/** The analytical store of usage records: ClickHouse, embedded or as a server. */
export interface UsageStore {
  /**
   * Inserts rows exactly once per token: a second insert of the same rows with the same token has no effect, in the table and in
   * everything its views feed. If a single server is killed during the insert, it may know the token without having the rows, in
   * the table or behind a view: a caller that repeats a failed insert must check (see docs/decisions/clickhouse.md, A
   * redo looks at what is stored). `table` may include its database: `database.table`. Columns may be in any order. A column that
   * only the table has gets its default; one that the table lacks is an error.
   */
  insert<Row>(
    table: string,
    columns: readonly Column<Row>[],
    rows: readonly Row[],
    token: string,
  ): Promise<void>

  /**
   * Returns the rows of a query. Parameters are bound by the server: `{name:Type}` in the text. Decimals, and integers beyond 32
   * bits, are returned as strings.
   */
  query<Row>(statement: string, parameters?: Readonly<Record<string, unknown>>): Promise<Row[]>

  /**
   * Returns the result of a query as a stream of bytes in one of ClickHouse's formats. It resolves once the store has the whole
   * result, so that every error is thrown before the first byte. A result beyond the limits is refused as a
   * UsageStoreStatementError of the type TOO_MANY_ROWS_OR_BYTES. The stream is read at the reader's pace. A reader that stops early
   * must destroy it.
   */
  stream(
    statement: string,
    parameters: Readonly<Record<string, unknown>>,
    options: StreamOptions,
  ): Promise<Readable>

  /** Runs a statement without a result. */
  command(statement: string): Promise<void>

  /** Throws a UsageStoreUnavailableError if the store does not answer. */
  ping(): Promise<void>

  close(): Promise<void>
}

type StreamOptions = {
  readonly format: 'CSVWithNames' | 'Parquet'
  readonly rowsMax: number
  /** Bytes of the result in the memory of the store, before it is formatted. */
  readonly bytesMax: number
}

/** One column of an insert: its name in the table, the type of the sent values, and the function that reads the value of a row. */
export type Column<Row> =
  | {
      readonly name: string
      readonly type: 'String'
      readonly value: (row: Row) => string
    }
  | {
      readonly name: string
      readonly type: 'UInt32' | 'UInt64' | 'Decimal(18, 6)' | "DateTime64(3, 'UTC')"
      /** Returns a safe integer: millionths of a decimal, or Unix milliseconds of a time. */
      readonly value: (row: Row) => number
    }
  | {
      readonly name: string
      readonly type: 'Map(String, String)'
      readonly value: (row: Row) => Readonly<Record<string, string>>
    }

/** The store did not answer in time. The statement may or may not have been executed. */
export class UsageStoreUnavailableError extends Error {
  override readonly name = 'UsageStoreUnavailableError'
}

/** The store refused the statement. Sending it again will not help. */
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
