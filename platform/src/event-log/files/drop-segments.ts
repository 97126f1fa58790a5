import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DurableStateWriter } from './durable-state.ts'
import { syncFolder } from './new-segment.ts'
import { listSegments, segmentPath } from './segment-files.ts'
import type { SegmentReport } from './verify-segment.ts'
import { readDurable } from './verify-segment.ts'

/**
 * Drops the oldest segments of a log that no process has open. Order of effects:
 * 1. The damaged files are copied aside. After a crash here, they are copied again.
 * 2. The stored state moves the start of the log behind them. After a crash here, readers skip the remaining files.
 * 3. The files are deleted, oldest first, each with a sync of the folder, so the remaining files have no gap.
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
