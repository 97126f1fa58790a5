import type {
  CounterBatch,
  Entry,
  EntryView,
  Increment,
  Mark,
  Window,
} from '../hot-state/hot-state.ts'

type Address = { readonly subject: string; readonly scope: string }

/**
 * HotState in the plainest way: it remembers every increment and where it went. Amounts are found by looking at all
 * increments, so nothing can be folded twice by mistake. One space and partition; windows of an entry do not overlap.
 */
export class HotStateModel {
  appliedOffset = 0
  readonly #entries = new Map<string, Entry>()
  readonly #marks = new Map<string, number>()
  readonly #increments: Increment[] = []
  /** Per entry and window: the numbers of the increments it has counted. */
  readonly #counted = new Map<string, Map<string, Set<number>>>()
  /** Scoped increments wait in a slot until one window takes them. */
  readonly #taken = new Set<number>()

  putEntry(address: Address, entry: Entry): void {
    const stored = this.#entries.get(nameOf(address))
    if (stored !== undefined && entry.version < stored.version) return
    this.#entries.set(nameOf(address), entry)
    this.#increments.forEach((_, number) => this.#count(address, number))
  }

  deleteEntry(address: Address): void {
    this.#entries.delete(nameOf(address))
  }

  apply(batch: CounterBatch): 'applied' | 'fenced' {
    if (batch.expectedOffset !== this.appliedOffset) return 'fenced'
    this.appliedOffset = batch.nextOffset
    this.claimMarks(batch.marks)
    for (const increment of batch.increments) {
      const number = this.#increments.push(increment) - 1
      for (const name of this.#entries.keys()) this.#count(addressOf(name), number)
    }
    return 'applied'
  }

  claimMarks(marks: readonly Mark[]): number[] {
    for (const { id, offset } of marks) if (!this.#marks.has(id)) this.#marks.set(id, offset)
    return marks.map(({ id }) => this.#marks.get(id)!)
  }

  readMarks(ids: readonly string[]): (number | undefined)[] {
    return ids.map((id) => this.#marks.get(id))
  }

  readEntry(address: Address, series: string): EntryView {
    const amounts = new Map<string, bigint>()
    for (const [windowId, numbers] of this.#counted.get(nameOf(address)) ?? []) {
      for (const number of numbers) {
        const increment = this.#increments[number]!
        if (increment.series !== series) continue
        amounts.set(windowId, (amounts.get(windowId) ?? 0n) + increment.amount)
      }
    }
    const document = this.#entries.get(nameOf(address))?.document
    return { document, amounts, appliedOffset: this.appliedOffset }
  }

  /** Lets the entry's fitting window count the increment, if it has not. */
  #count(address: Address, number: number): void {
    const increment = this.#increments[number]!
    const isUnscoped = increment.scope === ''
    if (increment.subject !== address.subject) return
    if (!isUnscoped && (increment.scope !== address.scope || this.#taken.has(number))) return
    const { windows } = this.#entries.get(nameOf(address))!
    const window = windows.find((each) => holds(each, increment.second))
    if (window === undefined) return
    if (!isUnscoped) this.#taken.add(number)
    this.#countedBy(address, window.id).add(number)
  }

  #countedBy(address: Address, windowId: string): Set<number> {
    const name = nameOf(address)
    const windows = this.#counted.get(name) ?? new Map<string, Set<number>>()
    this.#counted.set(name, windows)
    const numbers = windows.get(windowId) ?? new Set<number>()
    windows.set(windowId, numbers)
    return numbers
  }
}

function holds(window: Window, second: number): boolean {
  return window.fromSecond <= second && second < window.toSecond
}

function nameOf({ subject, scope }: Address): string {
  return JSON.stringify([subject, scope])
}

function addressOf(name: string): Address {
  const [subject, scope] = JSON.parse(name) as [string, string]
  return { subject, scope }
}
