import { endAfter } from '@tollgate/platform/observability/traced-call'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { Environment } from '@tollgate/schemas/environment'
import type { DecodedBatch } from '../domain/decoded-batch.ts'

/** Processes a batch, within a span if the trace of one of its events is sampled. */
export type TraceBatch = <Result>(
  operation: 'count' | 'store',
  at: LogPlace,
  batch: DecodedBatch,
  work: () => Promise<Result>,
) => Promise<Result>

type LogPlace = {
  readonly environment: Environment
  readonly topic: string
  readonly partition: number
}

/** Maximum number of links of a span. A batch may have events of thousands of traces, and this many are enough to find it. */
const linksMax = 32

export const untracedBatches: TraceBatch = (_operation, _at, _batch, work) => work()

/** The span is linked to the requests that sent the batch's events, and each of these traces gets a link to it. */
export function traceBatches(tracing: Tracing, system: 'kafka' | 'tollgate'): TraceBatch {
  return (operation, { topic, partition, environment }, batch, work) => {
    const followed = traceParentsOf(batch)
    if (followed.length === 0) return work()
    const span = tracing.follow(`${operation} ${topic}`, followed, {
      'messaging.system': system,
      'messaging.operation.name': operation,
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.batch.message_count': batch.events.length,
      'tollgate.environment': environment,
    })
    return endAfter(span, () => span.run(work))
  }
}

/** Returns the distinct trace parents. The events of one bulk request share one. */
function traceParentsOf({ events }: DecodedBatch): string[] {
  const found = new Set<string>()
  for (const { event } of events) {
    if (event.traceParent === null) continue
    found.add(event.traceParent)
    if (found.size === linksMax) break
  }
  return [...found]
}
