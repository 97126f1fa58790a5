import type { Increment, Window } from '../hot-state/hot-state.ts'

export type Address = { readonly subject: string; readonly scope: string }

type Counted = {
  toSecond: number
  /** Numbers of the increments that the window has counted. */
  readonly numbers: Set<number>
}

/**
 * A simple model of the counts of a partition: it computes amounts from all increments, so nothing can be folded twice by mistake.
 */
export class CountsModel {
  readonly #increments: Increment[] = []
  /** Counted increments by entry, then by window id. */
  readonly #counted = new Map<string, Map<string, Counted>>()
  /** Scoped increments stay in a slot until one window counts them. */
  readonly #taken = new Set<number>()

  /** `listed` has the windows of all entries. */
  add(increment: Increment, listed: readonly [Address, readonly Window[]][]): void {
    const number = this.#increments.push(increment) - 1
    for (const [address, windows] of listed) this.#count(address, windows, number)
  }

  /** Adds increments that are not counted yet to the current windows of the entry. */
  fold(address: Address, windows: readonly Window[]): void {
    for (const { id, toSecond } of windows) this.#countedBy(address, id, toSecond)
    this.#increments.forEach((_, number) => this.#count(address, windows, number))
  }

  dropWindows(endedBeforeSecond: number): void {
    for (const windows of this.#counted.values()) {
      for (const [id, { toSecond }] of windows) {
        if (toSecond < endedBeforeSecond) windows.delete(id)
      }
    }
  }

  amounts(address: Address, series: string): Map<string, bigint> {
    const amounts = new Map<string, bigint>()
    for (const [windowId, { numbers }] of this.#counted.get(nameOf(address)) ?? []) {
      for (const number of numbers) {
        const increment = this.#increments[number]!
        if (increment.series !== series) continue
        amounts.set(windowId, (amounts.get(windowId) ?? 0n) + increment.amount)
      }
    }
    return amounts
  }

  #count(address: Address, windows: readonly Window[], number: number): void {
    const increment = this.#increments[number]!
    const isUnscoped = increment.scope === ''
    if (increment.subject !== address.subject) return
    if (!isUnscoped && (increment.scope !== address.scope || this.#taken.has(number))) return
    const window = windows.find((each) => holds(each, increment.second))
    if (window === undefined) return
    if (!isUnscoped) this.#taken.add(number)
    this.#countedBy(address, window.id, window.toSecond).numbers.add(number)
  }

  #countedBy(address: Address, windowId: string, toSecond: number): Counted {
    const name = nameOf(address)
    const windows = this.#counted.get(name) ?? new Map<string, Counted>()
    this.#counted.set(name, windows)
    const counted = windows.get(windowId) ?? { toSecond, numbers: new Set() }
    windows.set(windowId, counted)
    counted.toSecond = toSecond
    return counted
  }
}

function holds(window: Window, second: number): boolean {
  return window.fromSecond <= second && second < window.toSecond
}

function nameOf({ subject, scope }: Address): string {
  return JSON.stringify([subject, scope])
}
