import { atMostEvery, setupIntervalMs } from '../service/at-most-every.ts'
import type { HealthCheck } from '../service/health.ts'
import type { EventLog } from './event-log.ts'

/**
 * Health checks of the log's configuration. A running process continues with what it knows, so a failure only degrades health and
 * does not take the process out of service.
 */
export function logSetupHealth(log: Pick<EventLog, 'checkPartitions'>): HealthCheck[] {
  const check = atMostEvery(setupIntervalMs, () => log.checkPartitions())
  return [{ name: 'log-partitions', check, onlyDegrades: true }]
}

/** Health checks of the retention of group positions, for services that consume in a group. */
export function positionsHealth(
  log: Pick<EventLog, 'checkPositionsKept'>,
  { kafkaPositionsKeptMin: minutes }: { readonly kafkaPositionsKeptMin: number },
): HealthCheck[] {
  if (minutes === 0) return []
  const check = atMostEvery(setupIntervalMs, () => log.checkPositionsKept(minutes))
  return [{ name: 'log-positions', check, onlyDegrades: true }]
}
