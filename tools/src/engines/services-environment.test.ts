import { expect, test } from 'vitest'
import type { EngineName } from './engine-names.ts'
import { formatShellFile, parseShellFile } from '@tollgate/deploy/standalone/shell-file'
import { servicesEnvironment } from './services-environment.ts'

const shellFile = (...addresses: [EngineName, string][]): string =>
  formatShellFile(servicesEnvironment(new Map(addresses), 'secret'))

test('contains only the settings of running engines', () => {
  expect(shellFile(['kafka', 'h:1'], ['schema-registry', 'http://h:3'])).toBe(
    "TOLLGATE_EVENT_LOG='kafka'\nTOLLGATE_KAFKA_BROKERS='h:1'\nTOLLGATE_KAFKA_REPLICATION='1'\nTOLLGATE_KAFKA_MIN_IN_SYNC='1'\nTOLLGATE_SCHEMA_REGISTRY_URL='http://h:3'\n",
  )
})

test('requires a record on two of three brokers before it is acknowledged', () => {
  const lines = shellFile(['kafka', 'h:1,h:2,h:3']).split('\n')
  expect(lines).toContain("TOLLGATE_KAFKA_REPLICATION='3'")
  expect(lines).toContain("TOLLGATE_KAFKA_MIN_IN_SYNC='2'")
})

test('can be read back from a shell file', () => {
  const environment = { TOLLGATE_KAFKA_BROKERS: 'h:1,h:2', TOLLGATE_CLICKHOUSE_PASSWORD: 'a=b' }
  expect(parseShellFile(formatShellFile(environment))).toEqual(environment)
})

test.each([
  [['redis', 'redis://h:1'] as const, "TOLLGATE_REDIS_URL='redis://h:1'\n"],
  [['redis-cluster', 'h:1,h:2'] as const, "TOLLGATE_REDIS_CLUSTER_NODES='h:1,h:2'\n"],
])('configures hot state for %s', ([name, address], line) => {
  expect(shellFile([name, address])).toBe(`TOLLGATE_HOT_STATE='redis'\n${line}`)
})

test('contains the password of ClickHouse', () => {
  expect(shellFile(['clickhouse', 'http://h:1'])).toBe(
    "TOLLGATE_CLICKHOUSE_URL='http://h:1'\nTOLLGATE_CLICKHOUSE_USERNAME='default'\nTOLLGATE_CLICKHOUSE_PASSWORD='secret'\n",
  )
})
