import type { Sql, TransactionSql } from 'postgres'
import { endAfter } from '../../observability/traced-call.ts'
import type { Attributes, Span, Tracing } from '../../observability/tracing.ts'
import type { Database, ProviderRows, Queryable } from '../database.ts'

/** Wraps the database so that every query and every transaction of a sampled trace has a span. */
export function traceDatabase(tracing: Tracing, database: Database): Database {
  const pools = new Map<string, Sql>()
  return {
    control: tracePool(tracing, database.control, 'control'),
    in(environment) {
      let pool = pools.get(environment)
      if (pool === undefined) {
        pool = tracePool(tracing, database.in(environment), environment)
        pools.set(environment, pool)
      }
      return pool
    },
    of(providerId) {
      const rows = database.of(providerId)
      return {
        control: traceRows(tracing, rows.control, 'control'),
        in: (environment) => traceRows(tracing, rows.in(environment), environment),
      }
    },
    ping: () => database.ping(),
    close: () => database.close(),
  }
}

type Work = (sql: TransactionSql) => unknown

function tracePool(tracing: Tracing, pool: Sql, schema: string): Sql {
  const begin = (...given: [Work] | [options: string, Work]): Promise<unknown> => {
    const work = given.at(-1) as Work
    const options = given.length === 2 ? given[0] : ''
    return traceTransaction(tracing, schema, () =>
      pool.begin(options, (sql) => work(traceQueries(tracing, sql, schema))),
    )
  }
  return traceQueries(tracing, pool, schema, { begin })
}

function traceRows(tracing: Tracing, rows: ProviderRows, schema: string): ProviderRows {
  return {
    read: (body) =>
      traceTransaction(tracing, schema, () =>
        rows.read((sql) => body(traceQueries(tracing, sql, schema))),
      ),
    write: (body) =>
      traceTransaction(tracing, schema, () =>
        rows.write((sql) => body(traceQueries(tracing, sql, schema))),
      ),
  }
}

function traceTransaction<Result>(
  tracing: Tracing,
  schema: string,
  start: () => Promise<Result>,
): Promise<Result> {
  const attributes = { ...attributesOf(schema), 'db.operation.name': 'TRANSACTION' }
  const span = tracing.begin(`TRANSACTION ${schema}`, 'client', attributes)
  return span === undefined ? start() : endAfter(span, () => span.run(start))
}

function traceQueries<Sender extends Queryable>(
  tracing: Tracing,
  sql: Sender,
  schema: string,
  replaced: Readonly<Record<string, unknown>> = {},
): Sender {
  const watch = (made: unknown): unknown => {
    const parent = tracing.active()
    // A result that is not a promise is a fragment of a statement, not a query.
    if (parent?.isSampled === true && made instanceof Promise) {
      watchQuery(tracing, parent, made, schema)
    }
    return made
  }
  return new Proxy(sql, {
    apply: (target, self, given) => watch(Reflect.apply(target as never, self, given)),
    get(target, name) {
      if (typeof name === 'string' && name in replaced) return replaced[name]
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'unsafe') return value
      return (...given: unknown[]) => watch(Reflect.apply(value as () => unknown, target, given))
    },
  })
}

/**
 * Starts the span of a query when its result is first awaited, which is when the driver sends it. Before that, a query object may
 * become a fragment of another query.
 */
function watchQuery(tracing: Tracing, parent: Span, query: Query, schema: string): void {
  const ask = query.then.bind(query)
  let isAsked = false
  query.then = (onResult, onError) => {
    const asked = ask(onResult, onError)
    if (isAsked) return asked
    isAsked = true
    const operation = operationOf(query)
    const attributes = { ...attributesOf(schema), 'db.operation.name': operation }
    const span = parent.run(() => tracing.begin(`${operation} ${schema}`, 'client', attributes))
    const tell = (): void => span?.set(textOf(query))
    void ask(
      () => {
        tell()
        span?.end()
      },
      (error: unknown) => {
        tell()
        span?.fail(error)
      },
    )
    return asked
  }
}

/** The fields of the driver's query that are used here. */
type Query = Promise<unknown> & {
  readonly strings?: readonly string[]
  /** Text with a placeholder for every value. Set when the query is sent. */
  readonly statement?: { readonly string?: string } | null
}

function operationOf({ strings }: Query): string {
  return /\w+/.exec(strings?.[0] ?? '')?.[0].toUpperCase() ?? 'QUERY'
}

function textOf({ statement }: Query): Attributes {
  const text = statement?.string
  return text === undefined ? {} : { 'db.query.text': text.trim() }
}

function attributesOf(schema: string): Attributes {
  return { 'db.system.name': 'postgresql', 'db.namespace': schema }
}
