/** The queue of the lane is full. The caller gets an error at once instead of waiting without limit. */
export class LaneFullError extends Error {
  override readonly name = 'LaneFullError'
}

/** The gateway is shutting down. Work that has not started is refused, so it is never half done. */
export class LaneClosedError extends Error {
  override readonly name = 'LaneClosedError'
}

type Waiting = { readonly begin: () => void; readonly refuse: (error: Error) => void }

/** Runs at most `width` pieces of work concurrently, in order of arrival, with at most `queueMax` waiting. */
export type Lane = {
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Refuses waiting work, and resolves when running work has ended. */
  close(): Promise<void>
}

export function createLane(width: number, queueMax: number): Lane {
  const waiting: Waiting[] = []
  let running = 0
  let closed = false
  let emptied: (() => void) | undefined

  async function enter(): Promise<void> {
    if (closed) throw new LaneClosedError('the gateway is shutting down')
    if (running < width) {
      running += 1
      return
    }
    if (waiting.length >= queueMax) throw new LaneFullError(`${queueMax} statements are waiting`)
    await new Promise<void>((begin, refuse) => waiting.push({ begin, refuse }))
  }

  // The slot is passed to the next in the queue, so `running` does not change and no other caller can take it.
  function leave(): void {
    const next = waiting.shift()
    if (next !== undefined) return next.begin()
    running -= 1
    if (running === 0) emptied?.()
  }

  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    async close() {
      closed = true
      const error = new LaneClosedError('the gateway is shutting down')
      for (const { refuse } of waiting.splice(0)) refuse(error)
      if (running > 0) await new Promise<void>((resolve) => (emptied = resolve))
    },
  }
}
