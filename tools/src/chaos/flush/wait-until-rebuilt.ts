import { setTimeout as sleep } from 'node:timers/promises'
import { readPublicationState } from '@tollgate/domain/publishing/publication-state'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import { publishedKinds } from '@tollgate/schemas/hot-state/publications'
import { usageTopic } from '@tollgate/schemas/topics'

const space = 'sandbox'
const pollMs = 100

/** Milliseconds from the call until each state was seen. */
export type RebuildTimes = {
  /** All keys, meters, offers and customers are published. */
  readonly publishedMs: number
  /** Each partition has counted everything that was acknowledged a moment before. */
  readonly countedMs: number
}

/** Watches Redis from outside while it is rebuilt. Rejects after the timeout. */
export async function waitUntilRebuilt(
  hotState: HotState,
  partitionCount: number,
  timeoutMs: number,
  print: (line: string) => void,
): Promise<RebuildTimes> {
  const startedAtMs = performance.now()
  const passedMs = (): number => performance.now() - startedAtMs
  const first = async (what: string, isSeen: () => Promise<boolean>): Promise<number> => {
    while (!(await isSeen().catch(() => false))) {
      if (passedMs() > timeoutMs)
        throw new Error(`Not everything is ${what} after ${timeoutMs / 1000} s.`)
      await sleep(pollMs)
    }
    print(`${what} again after ${(passedMs() / 1000).toFixed(1)} s`)
    return passedMs()
  }
  const [publishedMs, countedMs] = await Promise.all([
    first('published', () => isPublished(hotState, partitionCount)),
    first('counted', () => isCounted(hotState, partitionCount)),
  ])
  return { publishedMs, countedMs }
}

async function isPublished(hotState: HotState, partitionCount: number): Promise<boolean> {
  const state = await readPublicationState({ hotState, partitionCount: () => partitionCount })
  const published = state.progress?.published ?? []
  return (
    state.lostPartitions.length === 0 && publishedKinds.every((kind) => published.includes(kind))
  )
}

async function isCounted(hotState: HotState, partitionCount: number): Promise<boolean> {
  for (let partition = 0; partition < partitionCount; partition++) {
    // The acknowledged head is also deleted by FLUSHALL. It is written again with the next acknowledged batch.
    const head = await hotState.acknowledgedHeads?.read(usageTopic(space), partition)
    if (head === undefined) return false
    if ((await hotState.appliedOffset(space, partition)) < head) return false
  }
  return true
}
