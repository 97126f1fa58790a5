import { readSettings } from '@tollgate/platform/config/settings'
import { describe, expect, it } from 'vitest'
import { planFreePorts, planPorts, portsOf } from './port-plan.ts'
import { engineSettings } from '@tollgate/deploy/settings/engine-settings'

const planOf = (environment: Record<string, string>) =>
  planPorts(readSettings(engineSettings, environment))

describe('planPorts', () => {
  it('assigns consecutive ports to the servers of an engine, and ports 100 higher to their peers', () => {
    const plan = planOf({
      TOLLGATE_ENGINES_KAFKA_PORT: '5000',
      TOLLGATE_ENGINES_REDIS_CLUSTER_PORT: '6000',
    })
    expect(plan.kafka).toEqual([
      { port: 5000, controllerPort: 5100 },
      { port: 5001, controllerPort: 5101 },
      { port: 5002, controllerPort: 5102 },
    ])
    expect(plan.redisCluster).toEqual([
      { port: 6000, busPort: 6100 },
      { port: 6001, busPort: 6101 },
      { port: 6002, busPort: 6102 },
    ])
  })

  it('assigns 17 different ports by default', () => {
    expect(new Set(portsOf(planOf({}))).size).toBe(17)
  })

  it.each([
    ['two engines on one port', { TOLLGATE_ENGINES_REDIS_PORT: '15432' }, 15_432],
    ['the port of a further broker', { TOLLGATE_ENGINES_POSTGRES_PORT: '19094' }, 19_094],
    [
      'a port for peers of the Redis Cluster',
      { TOLLGATE_ENGINES_CLICKHOUSE_PORT: '17103' },
      17_103,
    ],
  ])('refuses %s', (_, environment, port) => {
    expect(() => planOf(environment)).toThrow(`Two engines would listen on port ${port}.`)
  })

  it('returns different ports if free ones are planned', async () => {
    const ports = portsOf(await planFreePorts())
    expect(new Set(ports).size).toBe(ports.length)
  })
})
