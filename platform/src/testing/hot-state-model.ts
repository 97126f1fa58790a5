import type {
  CounterBatch,
  Entry,
  EntryView,
  Mark,
  MarkClaim,
  RestoreFinish,
  RestorePosition,
  RestoreStep,
  Span,
  SpansNotTaken,
  Window,
} from '../hot-state/hot-state.ts'
import { CountsModel, type Address } from './counts-model.ts'

/**
 * A simple model of HotState that remembers every increment and where it was counted. It has one space and partition; windows of an
 * entry do not overlap, and never become shorter.
 */
export class HotStateModel {
  appliedOffset = 0
  #marked = 0
  readonly #entries = new Map<string, Entry>()
  readonly #marks = new Map<string, number>()
  #inUse = new CountsModel()
  #restore: Restore | undefined

  get isRestoring(): boolean {
    return this.#restore !== undefined
  }

  get nextRestoreStep(): number {
    return this.#restore?.step ?? 0
  }

  putEntry(address: Address, entry: Entry): void {
    const stored = this.#entries.get(nameOf(address))
    if (stored !== undefined && entry.version < stored.version) return
    this.#entries.set(nameOf(address), entry)
    for (const counts of this.#counts()) counts.fold(address, entry.windows)
  }

  deleteEntry(address: Address): void {
    this.#entries.delete(nameOf(address))
  }

  apply(batch: CounterBatch): 'applied' | 'fenced' {
    if (batch.expectedOffset !== this.appliedOffset) return 'fenced'
    this.appliedOffset = batch.nextOffset
    this.#setMarks(batch.marks)
    for (const increment of batch.increments) this.#inUse.add(increment, this.#listed())
    return 'applied'
  }

  claimMarks({ fromOffset, toOffset, marks }: MarkClaim): number[] | 'incomplete' {
    if (Math.max(this.appliedOffset, this.#marked) < fromOffset) return 'incomplete'
    this.#marked = Math.max(this.#marked, toOffset)
    this.#setMarks(marks)
    return marks.map(({ id }) => this.#marks.get(id)!)
  }

  readMarks(ids: readonly string[]): (number | undefined)[] {
    return ids.map((id) => this.#marks.get(id))
  }

  readEntry(address: Address, series: string): EntryView {
    const document = this.#entries.get(nameOf(address))?.document
    const amounts = this.#inUse.amounts(address, series)
    return { document, amounts, appliedOffset: this.appliedOffset }
  }

  beginRestore(token: string): void {
    this.#restore = { token, step: 0, shadow: new CountsModel(), answer: undefined }
  }

  restore(step: RestoreStep): SpansNotTaken | 'fenced' {
    const restore = this.#restore
    if (restore === undefined) return 'fenced'
    const { answer } = restore
    if (answer !== undefined && isNext(restore, { ...step, step: step.step + 1 })) return answer
    if (!isNext(restore, step)) return 'fenced'
    restore.step += 1
    const cut: number[] = []
    const outside: number[] = []
    this.#setMarks(step.marks ?? [])
    this.#marked = Math.max(this.#marked, step.markedOffset ?? 0)
    for (const [index, span] of (step.spans ?? []).entries()) {
      const outcome = this.#addSpan(restore.shadow, span)
      if (outcome === 'cut') cut.push(index)
      if (outcome === 'outside') outside.push(index)
    }
    restore.answer = { cut, outside }
    return restore.answer
  }

  finishRestore(finish: RestoreFinish): 'restored' | 'fenced' {
    const restore = this.#restore
    if (restore === undefined || !isNext(restore, finish)) return 'fenced'
    this.#inUse = restore.shadow
    this.appliedOffset = finish.nextOffset
    this.#restore = undefined
    return 'restored'
  }

  /** Deletes windows that ended before that second, as a complete sweep does. */
  sweepWindows(endedBeforeSecond: number): void {
    for (const [name, entry] of this.#entries) {
      const windows = entry.windows.filter(({ toSecond }) => toSecond >= endedBeforeSecond)
      this.#entries.set(name, { ...entry, windows })
    }
    for (const counts of this.#counts()) counts.dropWindows(endedBeforeSecond)
  }

  #setMarks(marks: readonly Mark[]): void {
    for (const { id, offset } of marks) if (!this.#marks.has(id)) this.#marks.set(id, offset)
  }

  #counts(): CountsModel[] {
    return this.#restore === undefined ? [this.#inUse] : [this.#inUse, this.#restore.shadow]
  }

  #listed(): [Address, readonly Window[]][] {
    return [...this.#entries].map(([name, { windows }]) => [addressOf(name), windows])
  }

  #addSpan(shadow: CountsModel, span: Span): 'taken' | 'cut' | 'outside' {
    const { subject, scope, series, fromSecond, lastSecond, amount } = span
    const increment = { subject, scope, series, second: fromSecond, amount }
    if (fromSecond === lastSecond) {
      shadow.add(increment, this.#listed())
      return 'taken'
    }
    const touched: Window[] = []
    for (const [address, windows] of this.#listed()) {
      if (address.subject !== subject || (scope !== '' && address.scope !== scope)) continue
      for (const window of windows) {
        if (window.fromSecond <= lastSecond && window.toSecond > fromSecond) touched.push(window)
      }
    }
    if (touched.length === 0) return 'outside'
    const [{ fromSecond: from, toSecond: to }] = touched as [Window]
    if (scope === '' || touched.length > 1 || from > fromSecond || to <= lastSecond) return 'cut'
    shadow.add(increment, this.#listed())
    return 'taken'
  }
}

type Restore = {
  readonly token: string
  step: number
  readonly shadow: CountsModel
  /** Answer to the last step. */
  answer: SpansNotTaken | undefined
}

function isNext(
  restore: { readonly token: string; readonly step: number },
  { token, step }: RestorePosition,
): boolean {
  return restore.token === token && restore.step === step
}

function nameOf({ subject, scope }: Address): string {
  return JSON.stringify([subject, scope])
}

function addressOf(name: string): Address {
  const [subject, scope] = JSON.parse(name) as [string, string]
  return { subject, scope }
}
