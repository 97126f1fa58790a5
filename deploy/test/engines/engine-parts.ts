import { randomBytes } from 'node:crypto'
import { deleteTopics } from '@tollgate/platform/testing/kafka-under-test'
import { deleteKeysOf } from '@tollgate/platform/testing/redis-under-test'

const redisSettings = {
  TOLLGATE_TEST_REDIS_URL: 'TOLLGATE_REDIS_URL',
  TOLLGATE_TEST_REDIS_CLUSTER: 'TOLLGATE_REDIS_CLUSTER_NODES',
} as const

/** The kinds of Redis on which a suite may run, by the variables with their addresses. */
export type RedisVariable = keyof typeof redisSettings

export const redisVariables = Object.keys(redisSettings) as RedisVariable[]

/** Topics in Kafka and keys in Redis that belong to one test. */
export type EngineParts = {
  /** Settings with which services use them. */
  readonly settings: Readonly<Record<string, string>>
  /** Deletes the topics and keys. */
  remove(): Promise<void>
}

/** Returns the names of the unset variables with the addresses of these engines. */
export function missingParts(redis: RedisVariable): string[] {
  const variables = ['TOLLGATE_TEST_KAFKA_BROKERS', 'TOLLGATE_TEST_SCHEMA_REGISTRY_URL', redis]
  return variables.filter((variable) => process.env[variable] === undefined)
}

export function prepareParts(redis: RedisVariable): EngineParts {
  const name = `test_${randomBytes(6).toString('hex')}`
  const brokers = process.env['TOLLGATE_TEST_KAFKA_BROKERS'] ?? ''
  const servers = process.env[redis] ?? ''
  return {
    settings: {
      TOLLGATE_EVENT_LOG: 'kafka',
      TOLLGATE_KAFKA_BROKERS: brokers,
      TOLLGATE_KAFKA_NAME_PREFIX: `${name}.`,
      TOLLGATE_KAFKA_REPLICATION: '1',
      TOLLGATE_KAFKA_MIN_IN_SYNC: '1',
      TOLLGATE_SCHEMA_REGISTRY_URL: process.env['TOLLGATE_TEST_SCHEMA_REGISTRY_URL'] ?? '',
      TOLLGATE_HOT_STATE: 'redis',
      [redisSettings[redis]]: servers,
      TOLLGATE_REDIS_KEY_PREFIX: name,
    },
    remove: async () => {
      await deleteTopics(brokers.split(','), `${name}.`)
      const isCluster = redis === 'TOLLGATE_TEST_REDIS_CLUSTER'
      await deleteKeysOf(isCluster ? { clusterNodes: servers.split(',') } : { url: servers }, name)
    },
  }
}
