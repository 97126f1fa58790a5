import { tracedCall, withCalls } from '../observability/traced-call.ts'
import type { Attributes, Tracing } from '../observability/tracing.ts'
import type { EventLog } from './event-log.ts'

/** Wraps the log so that every append of a sampled trace has a span. */
export function traceEventLog(
  tracing: Tracing,
  log: EventLog,
  system: 'kafka' | 'tollgate',
): EventLog {
  const sending = <Result>(
    topic: string,
    attributes: Attributes,
    call: () => Promise<Result>,
  ): Promise<Result> =>
    tracedCall(
      tracing,
      `send ${topic}`,
      'producer',
      {
        'messaging.system': system,
        'messaging.operation.name': 'send',
        'messaging.operation.type': 'send',
        'messaging.destination.name': topic,
        ...attributes,
      },
      call,
    )
  return withCalls<EventLog>(log, {
    append: (topic, partition, ...rest) =>
      sending(topic, { 'messaging.destination.partition.id': String(partition) }, () =>
        log.append(topic, partition, ...rest),
      ),
    appendAll: (topic, records, receivedAtMs) =>
      sending(topic, { 'messaging.batch.message_count': records.length }, () =>
        log.appendAll(topic, records, receivedAtMs),
      ),
  })
}
