import { atMostEvery, setupIntervalMs } from '../service/at-most-every.ts'
import type { HealthCheck } from '../service/health.ts'
import type { HotState } from './hot-state.ts'

/**
 * Health checks of the replication of hot state. Writes that a failover loses are detected and rebuilt, so a failure only degrades
 * health.
 */
export function replicasHealth(
  hotState: Pick<HotState, 'checkReplicas'>,
  { redisReplicasToWriteMin: least }: { readonly redisReplicasToWriteMin: number },
): HealthCheck[] {
  if (least === 0) return []
  const check = atMostEvery(setupIntervalMs, () => hotState.checkReplicas(least))
  return [{ name: 'hot-state-replicas', check, onlyDegrades: true }]
}
