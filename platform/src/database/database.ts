import type { Sql, TransactionSql } from 'postgres'

/** A connection pool or an open transaction: what a repository needs to run statements. */
export type Queryable = Sql | TransactionSql

/**
 * Access to the rows of one provider in one schema. Rows of other providers are invisible: PostgreSQL adds the provider to every
 * statement, so a forgotten `where` finds no foreign rows and a wrong provider id is refused.
 */
export interface ProviderRows {
  /**
   * Runs one read-only transaction. Resolves as soon as `body` does, while the transaction still ends. `body` occupies a connection
   * and should wait for nothing but its statements.
   */
  read<Result>(body: (sql: TransactionSql) => Promise<Result>): Promise<Result>
  /** Runs one transaction, and resolves when it has committed. */
  write<Result>(body: (sql: TransactionSql) => Promise<Result>): Promise<Result>
}

export interface ProviderDatabase {
  readonly control: ProviderRows
  in(environment: string): ProviderRows
}

/** Access for code that serves requests: it can only reach the rows of one provider at a time. */
export interface ProviderDatabases {
  of(providerId: string): ProviderDatabase
}

/**
 * PostgreSQL. Each environment has its own schema, and its own pool that sees only that schema, so a statement cannot mix
 * environments. Data that belongs to no environment (providers, keys) is in the schema `control`.
 *
 * `control` and `in` see the rows of all providers. They are for work across providers, and must not be used for what a request
 * decides.
 */
export interface Database extends ProviderDatabases {
  readonly control: Sql
  /** Returns the pool of one environment's schema. */
  in(environment: string): Sql
  /** Throws if PostgreSQL does not answer, or if connections do not have the role that isolates providers. */
  ping(): Promise<void>
  close(): Promise<void>
}
