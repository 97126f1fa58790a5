import { embeddedFolder } from '../config/data-dir.ts'
import type { Logger } from '../observability/logger.ts'
import type { EventLog } from './event-log.ts'
import type {
  EventLogConfig,
  EventLogUse,
  EventLogWriterConfig,
  WritableEventLog,
} from './event-log-config.ts'
import { openFileEventLog } from './files/file-event-log.ts'

/** Opens the configured log for appending. Missing topics are created. */
export async function openEventLogForWriting(
  config: EventLogWriterConfig,
  use: EventLogUse,
): Promise<WritableEventLog> {
  if (config.eventLog === 'kafka') return (await loadKafka()).openKafkaForWriting(config, use)
  const partitionCounts = use.topics.map((topic) => [topic, config.logPartitions] as const)
  const log = await openEmbedded(config, 'writer', Object.fromEntries(partitionCounts))
  return { log, schemaId: use.values.embeddedSchemaId, close: () => log.close() }
}

/** Opens the configured log for reading and consuming in groups. Waits until the log exists. */
export async function openEventLogForReading(
  config: EventLogConfig,
  use: EventLogUse,
): Promise<EventLog> {
  if (config.eventLog === 'kafka') return (await loadKafka()).openKafkaForReading(config, use)
  return openEmbedded(config, 'reader', {})
}

/** Opens a log with the control topic of the note lease, which is in Kafka beside the usage topics. */
export async function openControlLog(
  config: EventLogWriterConfig,
  topic: string,
  logger: Logger,
): Promise<EventLog> {
  return (await loadKafka()).openKafkaControlLog(config, topic, logger)
}

/** Loaded only if Kafka is configured: the clients of Kafka and of the schema registry need 28 MB of memory. */
function loadKafka() {
  return import('./kafka/open-configured.ts')
}

async function openEmbedded(
  { dataDir }: EventLogConfig,
  role: 'writer' | 'reader',
  topics: Readonly<Record<string, number>>,
): Promise<EventLog> {
  const logFolder = embeddedFolder(dataDir, 'log')
  const groupsFolder = embeddedFolder(dataDir, 'groups')
  return openFileEventLog({ logFolder, groupsFolder, role, topics })
}
