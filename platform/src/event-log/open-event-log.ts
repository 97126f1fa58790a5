import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { createSchemaRegistry, type SchemaRegistry } from '../schema-registry/schema-registry.ts'
import type { EventLog } from './event-log.ts'
import type {
  eventLogGroupSettings,
  eventLogSettings,
  eventLogWriterSettings,
} from './event-log-settings.ts'
import { openFileEventLog } from './files/file-event-log.ts'
import { openKafkaEventLog, type KafkaWriterOptions } from './kafka/kafka-event-log.ts'
import type { KafkaConnection } from './kafka/kafka-node.ts'
import { learnSchemas, type ValueSchemas } from './value-schemas.ts'

export type EventLogConfig = SettingValues<typeof eventLogSettings> &
  Partial<SettingValues<typeof eventLogGroupSettings>> & { readonly dataDir: string }

export type EventLogWriterConfig = EventLogConfig & SettingValues<typeof eventLogWriterSettings>

export type EventLogUse = {
  readonly topics: readonly string[]
  readonly values: ValueSchemas
  readonly logger: Logger
}

export type WritableEventLog = {
  readonly log: EventLog
  /** The id of the schema in front of every value that is appended. */
  readonly schemaId: number
  close(): Promise<void>
}

/** The log where the configuration wants it, opened for appending. The topics that are missing are made. */
export async function openEventLogForWriting(
  config: EventLogWriterConfig,
  use: EventLogUse,
): Promise<WritableEventLog> {
  const { topics, values } = use
  const partitionCounts = Object.fromEntries(topics.map((topic) => [topic, config.logPartitions]))
  if (config.eventLog === 'embedded') {
    const log = await openEmbedded(config, 'writer', partitionCounts)
    return { log, schemaId: values.embeddedSchemaId, close: () => log.close() }
  }
  const registry = registryOf(config, values)
  const schemaId = await registry.idOf(values.subject, values.schema)
  const log = await openKafka(config, use, registry, {
    partitionCounts,
    replicationFactor: config.kafkaReplication,
    minInSyncReplicas: config.kafkaMinInSync,
    deliveryTimeoutMs: config.kafkaDeliveryTimeoutMs,
  })
  return { log, schemaId, close: () => log.close() }
}

/** The same, opened for reading and for taking part in groups. Waits until there is a log. */
export function openEventLogForReading(
  config: EventLogConfig,
  use: EventLogUse,
): Promise<EventLog> {
  if (config.eventLog === 'embedded') return openEmbedded(config, 'reader', {})
  return openKafka(config, use, registryOf(config, use.values), undefined)
}

function openEmbedded(
  { dataDir }: EventLogConfig,
  role: 'writer' | 'reader',
  topics: Readonly<Record<string, number>>,
): Promise<EventLog> {
  const [logFolder, groupsFolder] = [join(dataDir, 'log'), join(dataDir, 'groups')]
  return openFileEventLog({ logFolder, groupsFolder, role, topics })
}

function openKafka(
  config: EventLogConfig,
  { topics, values, logger }: EventLogUse,
  registry: SchemaRegistry,
  writer: KafkaWriterOptions | undefined,
): Promise<EventLog> {
  return openKafkaEventLog({
    connection: kafkaConnection(config),
    namePrefix: config.kafkaNamePrefix,
    topics,
    ...(writer === undefined ? {} : { writer }),
    groupTimeouts: {
      sessionTimeoutMs: config.kafkaSessionTimeoutMs ?? defaultTimeoutMs,
      rebalanceTimeoutMs: config.kafkaRebalanceTimeoutMs ?? defaultTimeoutMs,
    },
    answerWithinMs: config.kafkaAnswerTimeoutMs,
    logger,
    prepareRecords: learnSchemas(registry, values),
  })
}

/** Of services that are in no group. */
const defaultTimeoutMs = 30_000

function registryOf(config: EventLogConfig, values: ValueSchemas): SchemaRegistry {
  const { schemaRegistryUrl: url, schemaRegistryUsername: username } = config
  const auth = { username, password: config.schemaRegistryPassword }
  return createSchemaRegistry({ url, ...(username === '' ? {} : { auth }) }, values.typeOptions)
}

function kafkaConnection(config: EventLogConfig): KafkaConnection {
  const { kafkaSaslMechanism: mechanism } = config
  const credentials = { username: config.kafkaSaslUsername, password: config.kafkaSaslPassword }
  return {
    brokers: config.kafkaBrokers.split(',').map((broker) => broker.trim()),
    ...(mechanism === 'none' ? {} : { sasl: { mechanism, ...credentials } }),
    ...(config.kafkaTls === 'no' ? {} : { tls: tlsOf(config) }),
  }
}

function tlsOf({ kafkaCaFile, kafkaCertFile, kafkaKeyFile }: EventLogConfig) {
  return {
    ...(kafkaCaFile === '' ? {} : { ca: readFileSync(kafkaCaFile) }),
    ...(kafkaCertFile === '' ? {} : { cert: readFileSync(kafkaCertFile) }),
    ...(kafkaKeyFile === '' ? {} : { key: readFileSync(kafkaKeyFile) }),
  }
}
