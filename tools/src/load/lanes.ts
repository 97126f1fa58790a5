import { setTimeout as sleep } from 'node:timers/promises'
import { createSeededRandom, type SeededRandom } from '../client/seeded-random.ts'
import { quantile } from './statistics.ts'

/** Returns whether a lane begins another act. */
export type ShouldContinue = () => boolean

/** Returns a condition that allows `count` acts over all lanes. */
export function times(count: number): ShouldContinue {
  let left = count
  return () => left-- > 0
}

export function forSeconds(seconds: number): ShouldContinue {
  const endMs = performance.now() + seconds * 1_000
  return () => performance.now() < endMs
}

/** Runs `lanes` lanes concurrently, each with one act after the other. Rejects with the first failure. */
export async function runLanes(
  lanes: number,
  shouldContinue: ShouldContinue,
  act: (lane: number) => Promise<unknown>,
): Promise<void> {
  const run = async (lane: number): Promise<void> => {
    while (shouldContinue()) await act(lane)
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)))
}

export type LaneRate = {
  readonly acts: number
  readonly perSecond: number
  readonly p99Ms: number
}

/** Runs acts like `runLanes` for a number of seconds, and measures them. */
export async function measureLanes(
  lanes: number,
  seconds: number,
  act: (lane: number) => Promise<unknown>,
): Promise<LaneRate> {
  const tookMs: number[] = []
  const startedMs = performance.now()
  await runLanes(lanes, forSeconds(seconds), async (lane) => {
    const begunMs = performance.now()
    await act(lane)
    tookMs.push(performance.now() - begunMs)
  })
  // The last act may end long after it began, so the actual duration is measured.
  const elapsedSeconds = (performance.now() - startedMs) / 1_000
  const acts = tookMs.length
  return { acts, perSecond: acts / elapsedSeconds, p99Ms: quantile(tookMs, 0.99) }
}

/** Returns a random source for each lane that does not depend on the other lanes. */
export function laneRandoms(seed: number, lanes: number): SeededRandom[] {
  return Array.from({ length: lanes }, (_, lane) => createSeededRandom(seed + lane * 7_919))
}

export type Lanes = {
  /** Waits until every act in progress has ended, and begins no other. Rejects with the first failure. */
  pause(): Promise<void>
  resume(): void
  /** Pauses permanently. */
  stop(): Promise<void>
}

/** Performs one act. Resolves to the milliseconds to rest before the next one. */
export type LaneAct = () => Promise<number>

/** Runs one lane for each of `acts` until it is stopped or one act fails. */
export function startLanes(acts: readonly LaneAct[]): Lanes {
  let gate = { opened: Promise.resolve(), open: (): void => undefined }
  let isPaused = false
  let isStopped = false
  let active = 0
  let failure: Error | undefined

  async function run(act: LaneAct): Promise<void> {
    for (;;) {
      await gate.opened
      if (isStopped) return
      active++
      const restMs = await act()
        .catch((error: unknown) => {
          failure ??= error instanceof Error ? error : new Error(String(error))
          isStopped = true
          return 0
        })
        .finally(() => active--)
      if (restMs > 0) await sleep(restMs)
    }
  }
  const running = acts.map(run)
  const resume = (): void => {
    isPaused = false
    gate.open()
  }
  return {
    async pause() {
      if (!isPaused) {
        isPaused = true
        let open = (): void => undefined
        gate = { opened: new Promise((resolve) => (open = resolve)), open: () => open() }
      }
      do await sleep(5)
      while (active > 0)
      if (failure) throw failure
    },
    resume,
    async stop() {
      isStopped = true
      resume()
      await Promise.all(running)
      if (failure) throw failure
    },
  }
}
