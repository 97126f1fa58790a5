import { readSettings } from '@tollgate/platform/config/settings'
import { describe, expect, it } from 'vitest'
import { planFreePorts, planPorts, portsOf } from './port-plan.ts'
import { engineSettings } from '@tollgate/deploy/settings/engine-settings'

const planOf = (environment: Record<string, string>) =>
  planPorts(readSettings(engineSettings, environment))

describe('the ports of the engines', () => {
  it('count up from the port of an engine, with those among its servers a hundred above', () => {
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

  it('are seventeen different ones by default', () => {
    expect(new Set(portsOf(planOf({}))).size).toBe(17)
  })

  it.each([
    ['two engines on one', { TOLLGATE_ENGINES_REDIS_PORT: '15432' }, 15_432],
    ['a counted one', { TOLLGATE_ENGINES_POSTGRES_PORT: '19094' }, 19_094],
    ['one among servers', { TOLLGATE_ENGINES_CLICKHOUSE_PORT: '17103' }, 17_103],
  ])('are refused where they meet: %s', (_, environment, port) => {
    expect(() => planOf(environment)).toThrow(`Two engines would listen on port ${port}.`)
  })

  it('are all different when free ones are taken', async () => {
    const ports = portsOf(await planFreePorts())
    expect(new Set(ports).size).toBe(ports.length)
  })
})
