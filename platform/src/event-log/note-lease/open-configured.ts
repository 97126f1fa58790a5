import type { Logger } from '../../observability/logger.ts'
import type { AcknowledgedHeads } from '../acknowledged-heads.ts'
import type { EventLogWriterConfig } from '../event-log-config.ts'
import type { EventLog } from '../event-log.ts'
import { openControlLog } from '../open-event-log.ts'
import { openNoteLease, type NoteLease } from './note-lease.ts'

/** Name of the control topic, without the prefix of the installation. */
const controlTopic = 'tollgate.head-notes'

export type NoteLeaseUse = {
  readonly hotState: { readonly acknowledgedHeads?: AcknowledgedHeads | undefined }
  readonly log: Pick<EventLog, 'head'>
  /** Topics whose heads are noted. */
  readonly topics: readonly string[]
  readonly logger: Logger
}

/** Opens the note lease of a process that appends, if the log is in Kafka and hot state is one Redis server. */
export async function openConfiguredNoteLease(
  config: EventLogWriterConfig,
  { hotState: { acknowledgedHeads: heads }, ...use }: NoteLeaseUse,
): Promise<NoteLease | undefined> {
  const homeNotes = heads?.home
  if (config.eventLog === 'embedded' || config.headNotes === 'off') return undefined
  if (heads === undefined || homeNotes === undefined) return undefined
  const control = await openControlLog(config, controlTopic, use.logger)
  return openNoteLease({
    ...use,
    control,
    controlTopic,
    heads,
    homeNotes,
    readsNotes: config.headNotes === 'read',
    acknowledgeWithinMs: config.kafkaDeliveryTimeoutMs,
  })
}
