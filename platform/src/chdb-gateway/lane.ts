/** The lane's queue is full: the caller is told at once instead of waiting without a bound. */
export class LaneFullError extends Error {
  override readonly name = 'LaneFullError'
}

/** The gateway is going down; what had not begun is refused, so that it is never half done. */
export class LaneClosedError extends Error {
  override readonly name = 'LaneClosedError'
}

type Waiting = { readonly begin: () => void; readonly refuse: (error: Error) => void }

/** Runs work at most `width` at a time, in order of arrival, with at most `queueMax` waiting. */
export type Lane = {
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Refuses what waits and resolves when what runs has ended. */
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

  // The place is handed to the next in line, so `running` does not change and nobody can slip in between.
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
