import { damageSegment, sealedSegments } from '@tollgate/platform/chaos/damage-segment'
import { keepCopy } from '@tollgate/platform/chaos/older-copy'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'

/**
 * Copies the ClickHouse folder of an installation that is not running. `putBack`, called while it is not running, simulates a power
 * loss or a restored backup: ClickHouse lacks everything stored after the copy.
 */
export function keepClickHouseCopy(dataDir: string): Promise<{ putBack(): Promise<void> }> {
  return keepCopy(dataFolderAt(dataDir).clickhouse)
}

/**
 * Damages a segment of the embedded log that is no longer written. The default is the oldest one. Returns its path, or undefined if
 * the log has no such segment. Damaging the same bytes again repairs them.
 */
export function damageOldSegment(
  dataDir: string,
  { index = 0, at = 0.5 }: { readonly index?: number; readonly at?: number } = {},
): string | undefined {
  const { log } = dataFolderAt(dataDir)
  const number = sealedSegments(log)[index]
  return number === undefined ? undefined : damageSegment(log, number, at)
}
