import { resolve } from 'node:path'
import type { CommitGate } from './commit-gate.ts'
import { OpeningTurn, type OpeningTurnOptions } from './opening-turn.ts'

/** The stores of this process that have an environment open. */
type Opened = { readonly turn: OpeningTurn; users: number }

const openedByFolder = new Map<string, Opened>()
/** The last opening or closing of each folder in this process, which the next one awaits. */
const lastByFolder = new Map<string, Promise<unknown>>()

/**
 * Opens an environment while no other process opens it or commits. `open` returns undefined if it leaves the environment closed.
 * lmdb opens an environment once per process, so further stores of this process need no turn. Rejects with a NoAnswerError.
 */
export function openInTurn<Store>(
  options: OpeningTurnOptions,
  open: (gate: CommitGate) => Promise<Store | undefined>,
): Promise<Store | undefined> {
  const folder = resolve(options.folder)
  return oneAtATime(folder, async () => {
    const known = openedByFolder.get(folder)
    if (known !== undefined) {
      const store = await open(known.turn.gate)
      if (store !== undefined) known.users += 1
      return store
    }
    const turn = await OpeningTurn.take({ ...options, folder })
    let store: Store | undefined
    try {
      store = await open(turn.gate)
    } finally {
      turn.end()
      if (store === undefined) await turn.leave()
      else openedByFolder.set(folder, { turn, users: 1 })
    }
    return store
  })
}

/** Runs `close` of a store that was opened in turn. After the last one this process no longer answers others. */
export function closeInTurn(folderPath: string, close: () => Promise<void>): Promise<void> {
  const folder = resolve(folderPath)
  return oneAtATime(folder, async () => {
    await close()
    const opened = openedByFolder.get(folder)!
    opened.users -= 1
    if (opened.users > 0) return
    openedByFolder.delete(folder)
    await opened.turn.leave()
  })
}

async function oneAtATime<Result>(folder: string, act: () => Promise<Result>): Promise<Result> {
  const last = lastByFolder.get(folder) ?? Promise.resolve()
  const mine = last.then(act, act)
  lastByFolder.set(
    folder,
    mine.catch(() => undefined),
  )
  return await mine
}
