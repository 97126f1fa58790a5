import type { Logger } from '../../observability/logger.ts'
import type { HealthCheck } from '../../service/health.ts'
import type { EventLog } from '../event-log.ts'
import { HeadNotes } from '../head-notes.ts'
import type { AcknowledgedHeads } from '../acknowledged-heads.ts'
import { HomeClaims } from './home-claims.ts'
import type { HomeNotes } from './home-notes.ts'
import { Lease } from './lease.ts'
import { LeaseCounts } from './lease-counts.ts'
import { NotedAcknowledgements } from './noted-acknowledgements.ts'
import { NotedHeads } from './noted-heads.ts'

export type NoteLeaseOptions = {
  /** The log with the control topic. It is closed with the lease. */
  readonly control: Pick<EventLog, 'head' | 'read' | 'append' | 'close'>
  readonly controlTopic: string
  readonly log: Pick<EventLog, 'head'>
  /** Topics of the log whose heads are noted. */
  readonly topics: readonly string[]
  readonly heads: AcknowledgedHeads
  readonly homeNotes: HomeNotes
  /** False if this process only does its part as a writer, and its limit checks ask the log. */
  readonly readsNotes: boolean
  readonly acknowledgeWithinMs: number
  readonly logger: Logger
}

/** What a log with acknowledged heads needs of a note lease. */
export type NoteLease = {
  readonly counts: LeaseCounts
  /** Resolves when records before the head may be acknowledged. */
  acknowledge(topic: string, partition: number, head: number): Promise<void>
  /** Returns a head that contains all records acknowledged before the call. */
  head(topic: string, partition: number): number | Promise<number>
  /** Degrades health while this process may not acknowledge, because the log does not confirm its lease. */
  readonly health: HealthCheck
  close(): Promise<void>
}

/**
 * Makes limit checks read acknowledged heads from Redis instead of asking the log for each. A Redis that lost notes, or a second
 * one, must not hide an acknowledged record, so a topic of the log names the only server whose notes count. If that server cannot
 * be used, a process writes that there is none, and all ask the log.
 */
export async function openNoteLease(options: NoteLeaseOptions): Promise<NoteLease> {
  const { control, controlTopic, log, topics, heads, homeNotes, logger, readsNotes } = options
  const counts = new LeaseCounts()
  const lease = new Lease({ control, topic: controlTopic, logger })
  const acknowledgements = new NotedAcknowledgements({
    lease,
    homeNotes,
    plainNotes: new HeadNotes(heads),
    counts,
    withinMs: options.acknowledgeWithinMs,
  })
  const notedHeads = new NotedHeads({
    lease,
    homeNotes,
    counts,
    ask: async (topic, partition) => log.head(topic, partition),
  })
  const claims = new HomeClaims({ lease, homeNotes, topics })
  await lease.start()
  if (readsNotes) claims.start()
  return {
    counts,
    health: {
      name: 'head-notes',
      check: async () => {
        if (!lease.isValid()) throw new Error(`Kafka does not confirm the topic ${controlTopic}`)
      },
      onlyDegrades: true,
    },
    acknowledge: (...head) => acknowledgements.acknowledge(...head),
    head: readsNotes ? (...at) => notedHeads.head(...at) : (...at) => log.head(...at),
    async close() {
      claims.stop()
      lease.stop()
      await control.close()
    },
  }
}
