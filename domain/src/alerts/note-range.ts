import type { TransactionSql } from 'postgres'
import { movePosition, type HandledRange } from '../postgres/log-positions.ts'
import { noteUsedHours, type UsedHour } from './checks-repository.ts'

/**
 * Notes who used something in a range of the log, and moves the position. Both are one transaction: after a crash the range is
 * searched again. Returns false if another process has searched the range.
 */
export async function noteRange(
  sql: TransactionSql,
  range: HandledRange,
  used: readonly UsedHour[],
): Promise<boolean> {
  if (!(await movePosition(sql, 'alert_positions', range))) return false
  await noteUsedHours(sql, used)
  return true
}
