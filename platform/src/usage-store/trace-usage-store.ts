import { tracedCall, withCalls } from '../observability/traced-call.ts'
import type { Attributes, Tracing } from '../observability/tracing.ts'
import type { UsageStore } from './usage-store.ts'

/** Wraps the store so that every statement of a sampled trace has a span. Bound values are not part of spans. */
export function traceUsageStore(tracing: Tracing, store: UsageStore): UsageStore {
  const traced = <Result>(
    operation: string,
    target: string | undefined,
    attributes: Attributes,
    call: () => Promise<Result>,
  ): Promise<Result> =>
    tracedCall(
      tracing,
      target === undefined ? operation : `${operation} ${target}`,
      'client',
      { 'db.system.name': 'clickhouse', 'db.operation.name': operation, ...attributes },
      call,
    )
  const stating = <Result>(statement: string, call: () => Promise<Result>): Promise<Result> =>
    traced(operationOf(statement), undefined, { 'db.query.text': statement }, call)
  return withCalls<UsageStore>(store, {
    insert: (table, columns, rows, token) =>
      traced(
        'INSERT',
        table,
        { 'db.collection.name': table, 'db.operation.batch.size': rows.length },
        () => store.insert(table, columns, rows, token),
      ),
    query: (statement, parameters) => stating(statement, () => store.query(statement, parameters)),
    stream: (statement, parameters, options) =>
      stating(statement, () => store.stream(statement, parameters, options)),
    command: (statement) => stating(statement, () => store.command(statement)),
  })
}

function operationOf(statement: string): string {
  return /\w+/.exec(statement)?.[0].toUpperCase() ?? 'QUERY'
}
