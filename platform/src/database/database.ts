import type { Sql, TransactionSql } from 'postgres'

/** A connection pool or an open transaction: what a repository needs to run its statements. */
export type Queryable = Sql | TransactionSql

/**
 * PostgreSQL. Each environment has a schema of its own and a pool that can only see that schema, so a statement
 * cannot reach across; what belongs to neither (providers, keys) lives in the schema `control`.
 */
export interface Database {
  readonly control: Sql
  /** The pool of one environment's schema. */
  in(environment: string): Sql
  ping(): Promise<void>
  close(): Promise<void>
}
