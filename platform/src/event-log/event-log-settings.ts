import { choiceSetting, integerSetting, textSetting } from '../config/settings.ts'

const milliseconds = { min: 10, max: 600_000 }

/** How every service is told where the event log is. */
export const eventLogSettings = {
  eventLog: choiceSetting(
    'TOLLGATE_EVENT_LOG',
    'Where the event log is kept: embedded is a folder of the data folder',
    ['embedded', 'kafka'],
    'embedded',
  ),
  kafkaBrokers: textSetting(
    'TOLLGATE_KAFKA_BROKERS',
    'Some brokers of the Kafka cluster, as host:port with commas between',
    '127.0.0.1:9092',
  ),
  kafkaNamePrefix: textSetting(
    'TOLLGATE_KAFKA_NAME_PREFIX',
    'What the names of topics and groups begin with, where several installations share brokers',
    '',
  ),
  kafkaTls: choiceSetting(
    'TOLLGATE_KAFKA_TLS',
    'Whether the brokers are spoken to over TLS',
    ['no', 'yes'],
    'no',
  ),
  kafkaCaFile: textSetting(
    'TOLLGATE_KAFKA_CA_FILE',
    'PEM file of the authority that signed the certificates of the brokers; empty trusts the public ones',
    '',
  ),
  kafkaCertFile: textSetting(
    'TOLLGATE_KAFKA_CERT_FILE',
    'PEM file of our own certificate, where the brokers ask for one',
    '',
  ),
  kafkaKeyFile: textSetting('TOLLGATE_KAFKA_KEY_FILE', 'PEM file of its key', ''),
  kafkaSaslMechanism: choiceSetting(
    'TOLLGATE_KAFKA_SASL_MECHANISM',
    'How we say to the brokers who we are',
    ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    'none',
  ),
  kafkaSaslUsername: textSetting('TOLLGATE_KAFKA_SASL_USERNAME', 'Kafka user', ''),
  kafkaSaslPassword: textSetting('TOLLGATE_KAFKA_SASL_PASSWORD', 'Its password', ''),
  kafkaAnswerTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_ANSWER_TIMEOUT_MS',
    'Milliseconds the brokers may take to say where a partition ends, what is in it or where a group is',
    5_000,
    milliseconds,
  ),
  kafkaAddedPartitions: choiceSetting(
    'TOLLGATE_KAFKA_ADDED_PARTITIONS',
    'What to do when somebody has added partitions to a topic: refuse to start, or ignore them and use the others as before',
    ['refuse', 'ignore'],
    'refuse',
  ),
  schemaRegistryUrl: textSetting(
    'TOLLGATE_SCHEMA_REGISTRY_URL',
    'Confluent-compatible registry that keeps the schema of what is in Kafka',
    'http://127.0.0.1:8081',
  ),
  schemaRegistryUsername: textSetting(
    'TOLLGATE_SCHEMA_REGISTRY_USERNAME',
    'User of the registry; empty where it asks for none',
    '',
  ),
  schemaRegistryPassword: textSetting('TOLLGATE_SCHEMA_REGISTRY_PASSWORD', 'Its password', ''),
}

/** What is needed beyond that to append. */
export const eventLogWriterSettings = {
  logPartitions: integerSetting(
    'TOLLGATE_LOG_PARTITIONS',
    'Partitions of each topic; fixed when the log is made',
    4,
    { min: 1, max: 1_024 },
  ),
  kafkaReplication: integerSetting(
    'TOLLGATE_KAFKA_REPLICATION',
    'Copies of each partition of a topic that is made here',
    3,
    { min: 1, max: 100 },
  ),
  kafkaMinInSync: integerSetting(
    'TOLLGATE_KAFKA_MIN_IN_SYNC',
    'Copies that must have a record before it is acknowledged',
    2,
    { min: 1, max: 100 },
  ),
  kafkaDeliveryTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_DELIVERY_TIMEOUT_MS',
    'Milliseconds a record may wait for Kafka before the request that brought it is refused with 503',
    15_000,
    milliseconds,
  ),
}

/** What is needed beyond that to take part in groups. */
export const eventLogGroupSettings = {
  kafkaSessionTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_SESSION_TIMEOUT_MS',
    'Milliseconds without a sign of life after which the partitions of this process go to others',
    10_000,
    { min: 100, max: 1_800_000 },
  ),
  kafkaRebalanceTimeoutMs: integerSetting(
    'TOLLGATE_KAFKA_REBALANCE_TIMEOUT_MS',
    'Milliseconds the others wait for this process when partitions are shared out anew',
    30_000,
    { min: 100, max: 1_800_000 },
  ),
  kafkaPositionsKeptMin: integerSetting(
    'TOLLGATE_KAFKA_POSITIONS_KEPT_MINUTES_MIN',
    'Minutes for which brokers must keep the position of a projection that stands still (their offsets.retention.minutes): longer than any outage. Less makes health say degraded; 0 does not ask',
    10_080,
    { min: 0, max: 10_000_000 },
  ),
}
