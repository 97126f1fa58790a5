import type { SweepLimits } from '../hot-state.ts'
import type { Script } from './scripts/script.ts'
import { sweepReservationsScript } from './scripts/reservations.ts'
import {
  sweepMarksScript,
  sweepSlotsScript,
  sweepStaleScript,
  sweepWindowsScript,
} from './scripts/sweep.ts'

/** Redis is blocked while a script runs, so no step deletes or visits more keys than this. */
const stepMax = 1_000
/** Keys that a sweep may visit per deleted key, since it skips keys that are still needed. */
const looksPerKey = 16
const beginning = '0'

export type RunInPartition = (script: Script, args: readonly string[]) => Promise<unknown>

/** Deletes expired data step by step. */
export class Sweeper {
  /** Position of the last sweep of each kind. Lost at a restart; the sweep then starts from the beginning. */
  readonly #positions = new Map<string, string>()

  /** Deletes expired keys of a partition and returns their number. `partition` is the name of its head. */
  async sweep(partition: string, limits: SweepLimits, run: RunInPartition): Promise<number> {
    const { keysMax, marksReceivedBeforeMs, windowsEndedBeforeSecond } = limits
    const { reservationsExpiredBeforeMs } = limits
    const slotLimits = [
      `${limits.slotsBeforeSecond}`,
      `${limits.knownSubjectSlotsBeforeSecond}`,
    ] as const
    let swept = await sweepFirst(keysMax, (most) =>
      run(sweepMarksScript, [`${marksReceivedBeforeMs}`, most]),
    )
    swept += await sweepFirst(keysMax - swept, (most) =>
      run(sweepWindowsScript, [`${windowsEndedBeforeSecond}`, most]),
    )
    swept += await sweepFirst(keysMax - swept, (most) =>
      run(sweepReservationsScript, [`${reservationsExpiredBeforeMs}`, most]),
    )
    swept += await this.#sweepOn(`slots ${partition}`, keysMax - swept, (...step) =>
      run(sweepSlotsScript, [...step, ...slotLimits]),
    )
    swept += await this.#sweepOn(`stale ${partition}`, keysMax - swept, (position, looks) =>
      run(sweepStaleScript, [position, looks, `${globLiteral(partition)}:*`]),
    )
    return swept
  }

  /** Continues where the last sweep stopped, up to the end. */
  async #sweepOn(
    name: string,
    keysMax: number,
    step: (position: string, looks: string, most: string) => Promise<unknown>,
  ): Promise<number> {
    let swept = 0
    let position = this.#positions.get(name) ?? beginning
    for (let looks = keysMax * looksPerKey; swept < keysMax && looks > 0; looks -= stepMax) {
      const stepLooks = Math.min(looks, stepMax)
      const most = Math.min(keysMax - swept, stepMax)
      const answer = await step(position, `${stepLooks}`, `${most}`)
      const [sweptNow, next] = answer as [number, string]
      swept += sweptNow
      position = next
      if (position === beginning) break
    }
    if (position === beginning) this.#positions.delete(name)
    else this.#positions.set(name, position)
    return swept
  }
}

/** Repeats steps until one deletes less than it may. The data is sorted by expiry. */
async function sweepFirst(
  keysMax: number,
  step: (most: string) => Promise<unknown>,
): Promise<number> {
  let swept = 0
  while (swept < keysMax) {
    const most = Math.min(keysMax - swept, stepMax)
    const sweptNow = (await step(`${most}`)) as number
    swept += sweptNow
    if (sweptNow < most) break
  }
  return swept
}

/** Returns a glob pattern that matches only this text. */
function globLiteral(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&')
}
