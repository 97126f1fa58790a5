import { atMostEvery, setupIntervalMs } from '../service/at-most-every.ts'
import type { HealthCheck } from '../service/health.ts'
import type { EventLog } from './event-log.ts'

/**
 * What health says of how the log is set up. A process that runs goes on with what it knows, so nothing of it takes a
 * process out of service.
 */
export function logSetupHealth(log: Pick<EventLog, 'checkPartitions'>): HealthCheck[] {
  const check = atMostEvery(setupIntervalMs, () => log.checkPartitions())
  return [{ name: 'log-partitions', check, onlyDegrades: true }]
}

/** The same of the positions of groups, for services that are in one. */
export function positionsHealth(
  log: Pick<EventLog, 'checkPositionsKept'>,
  { kafkaPositionsKeptMin: minutes }: { readonly kafkaPositionsKeptMin: number },
): HealthCheck[] {
  if (minutes === 0) return []
  const check = atMostEvery(setupIntervalMs, () => log.checkPositionsKept(minutes))
  return [{ name: 'log-positions', check, onlyDegrades: true }]
}
