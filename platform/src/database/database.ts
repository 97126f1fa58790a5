import type { Sql, TransactionSql } from 'postgres'

/** A connection pool or an open transaction: what a repository needs to run its statements. */
export type Queryable = Sql | TransactionSql

/**
 * The rows of one provider in one schema. Those of others do not exist for what runs here: the server adds the provider
 * to every statement, so that a forgotten `where` finds nothing and a wrong value is refused.
 */
export interface ProviderRows {
  /**
   * One transaction that can only read. Resolves as soon as `body` does, while the transaction still ends: what was
   * read stays true. `body` holds a connection and should wait for nothing but its statements.
   */
  read<Result>(body: (sql: TransactionSql) => Promise<Result>): Promise<Result>
  /** One transaction, which has committed when this resolves. */
  write<Result>(body: (sql: TransactionSql) => Promise<Result>): Promise<Result>
}

export interface ProviderDatabase {
  readonly control: ProviderRows
  in(environment: string): ProviderRows
}

/** What may serve requests: there is no way through it to the rows of more than one provider. */
export interface ProviderDatabases {
  of(providerId: string): ProviderDatabase
}

/**
 * PostgreSQL. Each environment has a schema of its own and a pool that can only see that schema, so a statement
 * cannot reach across; what belongs to neither (providers, keys) lives in the schema `control`.
 *
 * `control` and `in` see the rows of all providers: for work that is by its nature across them, and for nothing that a
 * request decides.
 */
export interface Database extends ProviderDatabases {
  readonly control: Sql
  /** The pool of one environment's schema. */
  in(environment: string): Sql
  /** Throws where it does not answer, or where connections do not have the role that keeps providers apart. */
  ping(): Promise<void>
  close(): Promise<void>
}
