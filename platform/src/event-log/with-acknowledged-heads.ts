import { withCalls } from '../observability/traced-call.ts'
import type { AcknowledgedHeads } from './acknowledged-heads.ts'
import { EventLogUnavailableError, type EventLog } from './event-log.ts'
import { HeadNotes } from './head-notes.ts'

/**
 * A log behind a network whose heads can be told while it does not answer. Several processes append to it, so what one
 * of them has heard of is not all that was acknowledged: one may still wait for a leader while another has its answers
 * from the next. So each append is noted before its caller hears of it, and who cannot ask the log asks the notes. A
 * note that could not be made holds up no acknowledgement.
 */
export function withAcknowledgedHeads(log: EventLog, heads: AcknowledgedHeads): EventLog {
  const notes = new HeadNotes(heads)
  const noted = new WeakMap<Promise<void>, Promise<void>>()

  const noteHead = (topic: string, partition: number): Promise<void> => {
    const head = log.lastKnownHead(topic, partition)
    return head === undefined ? Promise.resolve() : notes.note(topic, partition, head)
  }
  return withCalls<EventLog>(log, {
    append: (topic, partition, ...rest) => {
      const durable = log.append(topic, partition, ...rest)
      // Records that become durable together share one promise, and one note.
      let after = noted.get(durable)
      if (after === undefined) {
        after = durable.then(() => noteHead(topic, partition))
        noted.set(durable, after)
      }
      return after
    },
    appendAll: async (topic, records, receivedAtMs) => {
      const offsets = await log.appendAll(topic, records, receivedAtMs)
      const partitions = new Set(records.map(({ partition }) => partition))
      await Promise.all([...partitions].map((partition) => noteHead(topic, partition)))
      return offsets
    },
    head: async (topic, partition) => {
      try {
        return await log.head(topic, partition)
      } catch (error) {
        if (!(error instanceof EventLogUnavailableError)) throw error
        const head = await heads.read(topic, partition)
        if (head === undefined) throw error
        return Math.max(head, log.lastKnownHead(topic, partition) ?? 0)
      }
    },
  })
}

/** The same, where the log is behind a network and the hot state keeps the notes. */
export function withHeadsOf(
  { acknowledgedHeads }: { readonly acknowledgedHeads?: AcknowledgedHeads | undefined },
  log: EventLog,
  { eventLog }: { readonly eventLog: 'embedded' | 'kafka' },
): EventLog {
  if (eventLog === 'embedded' || acknowledgedHeads === undefined) return log
  return withAcknowledgedHeads(log, acknowledgedHeads)
}
