import { choiceSetting, integerSetting, textSetting } from '../config/settings.ts'

const milliseconds = { min: 10, max: 600_000 }

/** Settings for access to the event log. */
export const eventLogSettings = {
  eventLog: choiceSetting(
    'TOLLGATE_EVENT_LOG',
    'Where the event log is stored: embedded uses a folder in the data folder',
    ['embedded', 'kafka'],
    'embedded',
  ),
  kafkaBrokers: textSetting(
    'TOLLGATE_KAFKA_BROKERS',
    'Brokers of the Kafka cluster, as host:port separated by commas; the other brokers are discovered',
    '127.0.0.1:9092',
  ),
  kafkaNamePrefix: textSetting(
    'TOLLGATE_KAFKA_NAME_PREFIX',
    'Prefix of the names of topics and groups, if several installations share brokers',
    '',
  ),
  kafkaTls: choiceSetting(
    'TOLLGATE_KAFKA_TLS',
    'Whether connections to the brokers use TLS',
    ['no', 'yes'],
    'no',
  ),
  kafkaCaFile: textSetting(
    'TOLLGATE_KAFKA_CA_FILE',
    'PEM file of the certificate authority of the brokers; if empty, the public authorities are trusted',
    '',
  ),
  kafkaCertFile: textSetting(
    'TOLLGATE_KAFKA_CERT_FILE',
    'PEM file of the client certificate, if the brokers require one',
    '',
  ),
  kafkaKeyFile: textSetting(
    'TOLLGATE_KAFKA_KEY_FILE',
    'PEM file of the key of the client certificate',
    '',
  ),
  kafkaSaslMechanism: choiceSetting(
    'TOLLGATE_KAFKA_SASL_MECHANISM',
    'SASL mechanism for authentication at the brokers',
    ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    'none',
  ),
  kafkaSaslUsername: textSetting('TOLLGATE_KAFKA_SASL_USERNAME', 'User name at the brokers', ''),
  kafkaSaslPassword: textSetting('TOLLGATE_KAFKA_SASL_PASSWORD', 'Password of the Kafka user', ''),
  kafkaAnswerTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_ANSWER_TIMEOUT_MS',
    'Timeout of requests to the brokers for the end or content of a partition, or the position of a group, in milliseconds',
    5_000,
    milliseconds,
  ),
  kafkaBatchBytesMax: integerSetting(
    'TOLLGATE_KAFKA_BATCH_BYTES_MAX',
    'Maximum bytes of one compressed batch after decompression. A larger one is not read, and its readers report an error',
    64 * 1024 * 1024,
    { min: 1024 * 1024, max: 1024 * 1024 * 1024 },
  ),
  kafkaAddedPartitions: choiceSetting(
    'TOLLGATE_KAFKA_ADDED_PARTITIONS',
    'What to do if partitions were added to a topic: refuse to start, or ignore them and use only the original ones',
    ['refuse', 'ignore'],
    'refuse',
  ),
  schemaRegistryUrl: textSetting(
    'TOLLGATE_SCHEMA_REGISTRY_URL',
    'URL of a Confluent-compatible schema registry for the records in Kafka',
    'http://127.0.0.1:8081',
  ),
  schemaRegistryUsername: textSetting(
    'TOLLGATE_SCHEMA_REGISTRY_USERNAME',
    'User name at the schema registry; empty if it requires none',
    '',
  ),
  schemaRegistryPassword: textSetting(
    'TOLLGATE_SCHEMA_REGISTRY_PASSWORD',
    'Password of the registry user',
    '',
  ),
}

/** Additional settings of processes that append. */
export const eventLogWriterSettings = {
  headNotes: choiceSetting(
    'TOLLGATE_HEAD_NOTES',
    'How limit checks learn the heads of Kafka partitions if hot state is one Redis server: read reads notes in Redis, off asks Kafka. Processes with off and with read must never run at the same time; write is the step between them, and only writes notes',
    ['read', 'write', 'off'],
    'read',
  ),
  logPartitions: integerSetting(
    'TOLLGATE_LOG_PARTITIONS',
    'Partitions of each topic. The number is fixed when a topic is created',
    4,
    { min: 1, max: 1_024 },
  ),
  kafkaReplication: integerSetting(
    'TOLLGATE_KAFKA_REPLICATION',
    'Replication factor of topics that Tollgate creates',
    3,
    { min: 1, max: 100 },
  ),
  kafkaMinInSync: integerSetting(
    'TOLLGATE_KAFKA_MIN_IN_SYNC',
    'Replicas that must have a record before it is acknowledged',
    2,
    { min: 1, max: 100 },
  ),
  kafkaCompression: choiceSetting(
    'TOLLGATE_KAFKA_COMPRESSION',
    'Compression of batches; auto is zstd where Node has it (22.15 and later), and gzip otherwise',
    ['auto', 'none', 'gzip', 'lz4', 'zstd'],
    'auto',
  ),
  kafkaDeliveryTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_DELIVERY_TIMEOUT_MS',
    'How long a record may wait for Kafka before its request is refused with 503, in milliseconds',
    15_000,
    milliseconds,
  ),
}

/** Additional settings of processes that consume in groups. */
export const eventLogGroupSettings = {
  kafkaSessionTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_SESSION_TIMEOUT_MS',
    'Session timeout, in milliseconds; without a heartbeat for this long, the partitions of this process go to other members',
    10_000,
    { min: 100, max: 1_800_000 },
  ),
  kafkaRebalanceTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_REBALANCE_TIMEOUT_MS',
    'How long a rebalance waits for this process, in milliseconds',
    30_000,
    { min: 100, max: 1_800_000 },
  ),
  kafkaPositionsKeptMin: integerSetting(
    'TOLLGATE_KAFKA_POSITIONS_KEPT_MINUTES_MIN',
    'Minutes for which brokers must keep the position of an inactive projection (their offsets.retention.minutes); must be longer than any outage. A smaller value of the brokers makes health degraded; 0 turns the check off',
    10_080,
    { min: 0, max: 10_000_000 },
  ),
}
