import type { EngineName } from './engine-names.ts'

/**
 * Returns the settings with which Tollgate's services use these engines instead of the embedded stores. A setting is undefined if
 * its engine is missing.
 */
export function servicesEnvironment(
  addresses: ReadonlyMap<EngineName, string>,
  clickhousePassword: string,
  clickhouseReaderPassword?: string,
): Record<string, string | undefined> {
  const clickhouse = addresses.get('clickhouse')
  const hasRedis = addresses.has('redis') || addresses.has('redis-cluster')
  return {
    TOLLGATE_EVENT_LOG: addresses.has('kafka') ? 'kafka' : undefined,
    ...kafkaEnvironment(addresses.get('kafka')),
    TOLLGATE_SCHEMA_REGISTRY_URL: addresses.get('schema-registry'),
    TOLLGATE_HOT_STATE: hasRedis ? 'redis' : undefined,
    TOLLGATE_REDIS_URL: addresses.get('redis'),
    TOLLGATE_REDIS_CLUSTER_NODES: addresses.get('redis-cluster'),
    TOLLGATE_DATABASE_URL: addresses.get('postgres'),
    TOLLGATE_CLICKHOUSE_URL: clickhouse,
    TOLLGATE_CLICKHOUSE_USERNAME: clickhouse && 'default',
    TOLLGATE_CLICKHOUSE_PASSWORD: clickhouse && clickhousePassword,
    TOLLGATE_CLICKHOUSE_READER_PASSWORD: clickhouse && clickhouseReaderPassword,
    TOLLGATE_NATS_URL: addresses.get('nats'),
  }
}

function kafkaEnvironment(brokers: string | undefined): Record<string, string | undefined> {
  if (brokers === undefined) return {}
  const brokerCount = brokers.split(',').length
  return {
    TOLLGATE_KAFKA_BROKERS: brokers,
    TOLLGATE_KAFKA_REPLICATION: String(Math.min(3, brokerCount)),
    TOLLGATE_KAFKA_MIN_IN_SYNC: brokerCount >= 3 ? '2' : '1',
  }
}
