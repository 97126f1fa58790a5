import { damageSegment, sealedSegments } from '@tollgate/platform/chaos/damage-segment'
import { keepCopy } from '@tollgate/platform/chaos/older-copy'
import { dataFolderAt } from '@tollgate/deploy/standalone/data-folder'

/**
 * Keeps a copy of the ClickHouse folder of an installation that does not run. `putBack`, while it does not run again,
 * leaves what a power cut or a restored backup leaves: a ClickHouse that lacks what came after the copy.
 */
export function keepClickHouseCopy(dataDir: string): Promise<{ putBack(): Promise<void> }> {
  return keepCopy(dataFolderAt(dataDir).clickhouse)
}

/**
 * Damages a segment of the embedded log that no commit goes into any more; the oldest, unless another is named. Returns
 * its path, undefined while the log has no such segment. Damaging the same bytes once more repairs them.
 */
export function damageOldSegment(
  dataDir: string,
  { index = 0, at = 0.5 }: { readonly index?: number; readonly at?: number } = {},
): string | undefined {
  const { log } = dataFolderAt(dataDir)
  const number = sealedSegments(log)[index]
  return number === undefined ? undefined : damageSegment(log, number, at)
}
