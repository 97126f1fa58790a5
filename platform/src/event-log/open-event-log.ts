import { embeddedFolder } from '../config/data-dir.ts'
import type { EventLog } from './event-log.ts'
import type {
  EventLogConfig,
  EventLogUse,
  EventLogWriterConfig,
  WritableEventLog,
} from './event-log-config.ts'
import { openFileEventLog } from './files/file-event-log.ts'

/** The log where the configuration wants it, opened for appending. The topics that are missing are made. */
export async function openEventLogForWriting(
  config: EventLogWriterConfig,
  use: EventLogUse,
): Promise<WritableEventLog> {
  if (config.eventLog === 'kafka') return (await loadKafka()).openKafkaForWriting(config, use)
  const partitionCounts = use.topics.map((topic) => [topic, config.logPartitions] as const)
  const log = await openEmbedded(config, 'writer', Object.fromEntries(partitionCounts))
  return { log, schemaId: use.values.embeddedSchemaId, close: () => log.close() }
}

/** The same, opened for reading and for taking part in groups. Waits until there is a log. */
export async function openEventLogForReading(
  config: EventLogConfig,
  use: EventLogUse,
): Promise<EventLog> {
  if (config.eventLog === 'kafka') return (await loadKafka()).openKafkaForReading(config, use)
  return openEmbedded(config, 'reader', {})
}

/** Only where it is used: the clients of Kafka and of the registry take 28 MB of every process that loads them. */
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
