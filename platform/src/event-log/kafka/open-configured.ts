import { readFileSync } from 'node:fs'
import type { Logger } from '../../observability/logger.ts'
import { createSchemaRegistry, type SchemaRegistry } from '../../schema-registry/schema-registry.ts'
import type { EventLog } from '../event-log.ts'
import type {
  EventLogConfig,
  EventLogUse,
  EventLogWriterConfig,
  WritableEventLog,
} from '../event-log-config.ts'
import { learnSchemas, type ValueSchemas } from '../value-schemas.ts'
import { LogNotes, type LogNotesOptions } from './log-notes.ts'
import { agreeOnSchema, notedSchemas } from './noted-schemas.ts'
import { openKafkaEventLog, type KafkaWriterOptions } from './kafka-event-log.ts'
import type { KafkaConnection } from './kafka-node.ts'
import { bestCodec } from './wire/compress.ts'

export async function openKafkaForWriting(
  config: EventLogWriterConfig,
  use: EventLogUse,
): Promise<WritableEventLog> {
  const { topics, values, logger } = use
  const copies = {
    replicationFactor: config.kafkaReplication,
    minInSyncReplicas: config.kafkaMinInSync,
  }
  const notes = await openNotes(config, use, copies)
  const registry = registryOf(config, values)
  const schemaId = await agreeOnSchema({ notes, registry, values, logger })
  const log = await open(config, use, notes, {
    ...copies,
    partitionCounts: Object.fromEntries(topics.map((topic) => [topic, config.logPartitions])),
    deliveryTimeoutMs: config.kafkaDeliveryTimeoutMs,
    codec: config.kafkaCompression === 'auto' ? bestCodec() : config.kafkaCompression,
  })
  return { log, schemaId, close: () => log.close() }
}

export async function openKafkaForReading(
  config: EventLogConfig,
  use: EventLogUse,
): Promise<EventLog> {
  return open(config, use, await openNotes(config, use, undefined), undefined)
}

/** Opens a log with one topic of one partition, for records that processes exchange among themselves. */
export function openKafkaControlLog(
  config: EventLogWriterConfig,
  topic: string,
  logger: Logger,
): Promise<EventLog> {
  return openKafkaEventLog({
    connection: connectionOf(config),
    namePrefix: config.kafkaNamePrefix,
    topics: [topic],
    writer: {
      partitionCounts: { [topic]: 1 },
      replicationFactor: config.kafkaReplication,
      minInSyncReplicas: config.kafkaMinInSync,
      deliveryTimeoutMs: config.kafkaAnswerTimeoutMs,
    },
    groupTimeouts: { sessionTimeoutMs: defaultTimeoutMs, rebalanceTimeoutMs: defaultTimeoutMs },
    answerWithinMs: config.kafkaAnswerTimeoutMs,
    logger,
  })
}

function openNotes(
  config: EventLogConfig,
  { logger }: EventLogUse,
  writer: LogNotesOptions['writer'],
): Promise<LogNotes> {
  return LogNotes.open({
    connection: connectionOf(config),
    namePrefix: config.kafkaNamePrefix,
    writer,
    answerWithinMs: Math.max(config.kafkaAnswerTimeoutMs, openWithinMs),
    logger,
  })
}

function open(
  config: EventLogConfig,
  { topics, values, logger }: EventLogUse,
  notes: LogNotes,
  writer: KafkaWriterOptions | undefined,
): Promise<EventLog> {
  const schemas = notedSchemas({ notes, registry: registryOf(config, values), values })
  return openKafkaEventLog({
    connection: connectionOf(config),
    namePrefix: config.kafkaNamePrefix,
    topics,
    ...(writer === undefined ? {} : { writer }),
    groupTimeouts: {
      sessionTimeoutMs: config.kafkaSessionTimeoutMs ?? defaultTimeoutMs,
      rebalanceTimeoutMs: config.kafkaRebalanceTimeoutMs ?? defaultTimeoutMs,
    },
    answerWithinMs: config.kafkaAnswerTimeoutMs,
    decompressedBytesMax: config.kafkaBatchBytesMax,
    logger,
    notes,
    ignoresAddedPartitions: config.kafkaAddedPartitions === 'ignore',
    prepareRecords: learnSchemas(schemas, values),
  })
}

/** The same time that the log waits for its topics. */
const openWithinMs = 30_000

/** Timeouts of services that join no group. */
const defaultTimeoutMs = 30_000

function registryOf(config: EventLogConfig, values: ValueSchemas): SchemaRegistry {
  const { schemaRegistryUrl: url, schemaRegistryUsername: username } = config
  const auth = { username, password: config.schemaRegistryPassword }
  return createSchemaRegistry({ url, ...(username === '' ? {} : { auth }) }, values.typeOptions)
}

function connectionOf(config: EventLogConfig): KafkaConnection {
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
