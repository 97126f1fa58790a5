import { withCalls } from '../observability/traced-call.ts'
import type { AcknowledgedHeads } from './acknowledged-heads.ts'
import { EventLogUnavailableError, type EventLog } from './event-log.ts'
import { HeadNotes } from './head-notes.ts'
import type { NoteLease } from './note-lease/note-lease.ts'

/**
 * Wraps a log behind a network so that its heads are known while it does not answer. Several processes append, so no process knows
 * all acknowledged records: one may wait for a leader while another gets answers from the next leader. So each append records its
 * head before it resolves. If the log does not answer, the recorded head is used. A failure to record a head does not delay the
 * acknowledgement. With a note lease, the recorded heads are used at other times too, and an append waits until that is safe.
 */
export function withAcknowledgedHeads(
  log: EventLog,
  heads: AcknowledgedHeads,
  lease?: Pick<NoteLease, 'acknowledge' | 'head'>,
): EventLog {
  const notes = new HeadNotes(heads)
  const noted = new WeakMap<Promise<void>, Promise<void>>()

  const noteHead = (topic: string, partition: number): Promise<void> => {
    const head = log.lastKnownHead(topic, partition)
    if (head === undefined) return Promise.resolve()
    return (lease ?? notes).acknowledge(topic, partition, head)
  }
  return withCalls<EventLog>(log, {
    append: (topic, partition, ...rest) => {
      const durable = log.append(topic, partition, ...rest)
      // Records that become durable together share one promise, and their head is recorded once.
      let after = noted.get(durable)
      if (after === undefined) {
        after = durable.then(() => noteHead(topic, partition))
        noted.set(durable, after)
      }
      return after
    },
    appendAll: (topic, records, receivedAtMs) => {
      const partitions = [...new Set(records.map(({ partition }) => partition))]
      return log.appendAll(topic, records, receivedAtMs).then(async (offsets) => {
        await Promise.all(partitions.map((partition) => noteHead(topic, partition)))
        return offsets
      })
    },
    head: async (topic, partition) => {
      try {
        return await (lease ?? log).head(topic, partition)
      } catch (error) {
        if (!(error instanceof EventLogUnavailableError)) throw error
        const head = await heads.read(topic, partition)
        if (head === undefined) throw error
        return Math.max(head, log.lastKnownHead(topic, partition) ?? 0)
      }
    },
  })
}

/** Applies `withAcknowledgedHeads` if the log is behind a network and hot state stores the heads. */
export function withHeadsOf(
  { acknowledgedHeads }: { readonly acknowledgedHeads?: AcknowledgedHeads | undefined },
  log: EventLog,
  { eventLog }: { readonly eventLog: 'embedded' | 'kafka' },
  lease?: NoteLease,
): EventLog {
  if (eventLog === 'embedded' || acknowledgedHeads === undefined) return log
  return withAcknowledgedHeads(log, acknowledgedHeads, lease)
}
