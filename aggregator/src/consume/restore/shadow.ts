import type {
  HotState,
  Mark,
  RestorePosition,
  RestoreStep,
  SlotLimits,
  Span,
  SpansNotTaken,
} from '@tollgate/platform/hot-state/hot-state'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { subjectKey } from '@tollgate/schemas/subject'
import type { Slice, UsageSum } from '../../clickhouse/stored-usage.ts'

export type ShadowName = Omit<RestorePosition, 'step'>

/**
 * The counts of a partition that a restore builds beside those in use, step by step. If the hot state loses earlier writes, it
 * loses the steps too, and every later step returns 'fenced'. A step without a response is repeated by calling the same method
 * again.
 */
export class Shadow {
  readonly #hotState: HotState
  readonly #name: ShadowName
  readonly #slotLimits: SlotLimits
  #step = 0

  constructor(hotState: HotState, name: ShadowName, slotLimits: SlotLimits) {
    this.#hotState = hotState
    this.#name = name
    this.#slotLimits = slotLimits
  }

  async mark(marks: readonly Mark[]): Promise<SpansNotTaken | 'fenced'> {
    return await this.#apply({ marks })
  }

  async completeMarks(markedOffset: number): Promise<SpansNotTaken | 'fenced'> {
    return await this.#apply({ markedOffset })
  }

  /** Only checks whether the shadow still exists. */
  async confirm(): Promise<SpansNotTaken | 'fenced'> {
    return await this.#apply({})
  }

  async add(slice: Slice, sums: readonly UsageSum[]): Promise<SpansNotTaken | 'fenced'> {
    const spans = sums.map((sum) => spanOf(slice, sum))
    return await this.#apply({ spans, slotLimits: this.#slotLimits })
  }

  /**
   * Adds the debits of these sums, each of which covers a day or less. A wallet has one window for all times, so any second is
   * correct.
   */
  async addDebits(slice: Slice, sums: readonly UsageSum[]): Promise<SpansNotTaken | 'fenced'> {
    return await this.#apply({ spans: sums.map((sum) => debitSpanOf(slice, sum)) })
  }

  /**
   * Makes the shadow the counts in use. Also returns 'fenced' if an earlier call succeeded without a response; then the fence is at
   * the offset.
   */
  async finish(nextOffset: number): Promise<'restored' | 'fenced'> {
    return await this.#hotState.finishRestore({ ...this.#name, step: this.#step, nextOffset })
  }

  async #apply(step: Omit<RestoreStep, keyof RestorePosition>): Promise<SpansNotTaken | 'fenced'> {
    const answer = await this.#hotState.restore({ ...this.#name, step: this.#step, ...step })
    this.#step += 1
    return answer
  }
}

function spanOf({ providerId, meterName }: Slice, sum: UsageSum): Span {
  const { customerRef, productRef, fromSecond, lastSecond, amount } = sum
  const subject = subjectKey(providerId, customerRef)
  return { subject, scope: productRef, series: meterName, fromSecond, lastSecond, amount }
}

function debitSpanOf({ providerId }: Slice, { customerRef, lastSecond, debit }: UsageSum): Span {
  const subject = walletSubject(providerId, customerRef)
  const at = { fromSecond: lastSecond, lastSecond }
  return { subject, scope: walletScope, series: walletSeries, ...at, amount: debit }
}
