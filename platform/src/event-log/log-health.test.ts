import { expect, it } from 'vitest'
import { replicasHealth } from '../hot-state/replicas-health.ts'
import { runHealthChecks } from '../service/health.ts'
import { logSetupHealth, positionsHealth } from './log-health.ts'

it('degrades health without failing it if log and hot state may lose data', async () => {
  let asked = 0
  const refuse = (reason: string) => () => {
    asked += 1
    return Promise.reject(new Error(reason))
  }
  const checks = [
    ...logSetupHealth({ checkPartitions: refuse('3 partitions') }),
    ...positionsHealth(
      { checkPositionsKept: refuse('forgotten after 60 minutes') },
      { kafkaPositionsKeptMin: 10_080 },
    ),
    ...replicasHealth({ checkReplicas: refuse('no replica') }, { redisReplicasToWriteMin: 1 }),
  ]
  for (let probe = 0; probe < 5; probe += 1) {
    expect(await runHealthChecks(checks, 1_000)).toEqual({
      status: 'degraded',
      checks: {
        'log-partitions': '3 partitions',
        'log-positions': 'forgotten after 60 minutes',
        'hot-state-replicas': 'no replica',
      },
    })
  }
  expect(asked).toBe(3)
})

it('skips checks that the operator has turned off', () => {
  const fail = () => Promise.reject(new Error('asked'))
  expect(positionsHealth({ checkPositionsKept: fail }, { kafkaPositionsKeptMin: 0 })).toEqual([])
  expect(replicasHealth({ checkReplicas: fail }, { redisReplicasToWriteMin: 0 })).toEqual([])
})
