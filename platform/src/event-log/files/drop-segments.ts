import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DurableStateWriter } from './durable-state.ts'
import { syncFolder } from './new-segment.ts'
import { listSegments, segmentPath } from './segment-files.ts'
import type { SegmentReport } from './verify-segment.ts'
import { readDurable } from './verify-segment.ts'

/**
 * Cuts a log that nobody has open at its start. The order of effects:
 *
 *   1. the damaged files are copied aside. Killed here, they are copied again.
 *   2. the state says that the log begins behind them. Killed here, readers pass over what is still there.
 *   3. the files are deleted, oldest first, each with a sync of the folder: whatever is left has no gap.
 */
export async function dropSegments(
  folder: string,
  upTo: number,
  damaged: readonly SegmentReport[],
  asideFolder: string,
): Promise<string[]> {
  mkdirSync(asideFolder, { recursive: true, mode: 0o700 })
  const kept: string[] = []
  for (const { path } of damaged) {
    if (!existsSync(path)) continue
    const copy = join(asideFolder, basename(path))
    copyFileSync(path, copy)
    kept.push(copy)
  }
  await syncFolder(asideFolder)
  const state = new DurableStateWriter(folder)
  try {
    state.publish({ ...readDurable(folder), oldestSegment: upTo + 1 })
  } finally {
    state.close()
  }
  for (const number of listSegments(folder)) {
    if (number > upTo) break
    rmSync(segmentPath(folder, number), { force: true })
    await syncFolder(folder)
  }
  return kept
}
