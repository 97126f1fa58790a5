import { atMostEvery, setupIntervalMs } from '../service/at-most-every.ts'
import type { HealthCheck } from '../service/health.ts'
import type { HotState } from './hot-state.ts'

/**
 * What health says of how the hot state keeps writes. Whatever a failover takes back is found and made again, so it
 * takes no process out of service.
 */
export function replicasHealth(
  hotState: Pick<HotState, 'checkReplicas'>,
  { redisReplicasToWriteMin: least }: { readonly redisReplicasToWriteMin: number },
): HealthCheck[] {
  if (least === 0) return []
  const check = atMostEvery(setupIntervalMs, () => hotState.checkReplicas(least))
  return [{ name: 'hot-state-replicas', check, onlyDegrades: true }]
}
