import { endAfter } from '@tollgate/platform/observability/traced-call'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { Environment } from '@tollgate/schemas/environment'
import type { DecodedBatch } from '../domain/decoded-batch.ts'

/** Works on a batch, within a span of its own where anybody follows one of its events. */
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

/** A batch may hold events of thousands of traces; so many are enough to find it by. */
const linksMax = 32

export const untracedBatches: TraceBatch = (_operation, _at, _batch, work) => work()

/** The span is linked to the requests that the batch's events came with, and each of them to it. */
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

/** The events of one bulk request have the same. */
function traceParentsOf({ events }: DecodedBatch): string[] {
  const found = new Set<string>()
  for (const { event } of events) {
    if (event.traceParent === null) continue
    found.add(event.traceParent)
    if (found.size === linksMax) break
  }
  return [...found]
}
