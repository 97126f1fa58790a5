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
 * The counts of a partition that a restore makes beside those in use, step by step. Whatever loses what was written
 * before loses the steps too: 'fenced' from the next one on. A step that got no answer is taken by the same call again.
 */
export class Shadow {
  readonly #hotState: HotState
  readonly #of: ShadowName
  readonly #slotLimits: SlotLimits
  #step = 0

  constructor(hotState: HotState, of: ShadowName, slotLimits: SlotLimits) {
    this.#hotState = hotState
    this.#of = of
    this.#slotLimits = slotLimits
  }

  async mark(marks: readonly Mark[]): Promise<SpansNotTaken | 'fenced'> {
    return await this.#take({ marks })
  }

  async completeMarks(markedOffset: number): Promise<SpansNotTaken | 'fenced'> {
    return await this.#take({ markedOffset })
  }

  /** Does nothing but tell whether it is still there. */
  async confirm(): Promise<SpansNotTaken | 'fenced'> {
    return await this.#take({})
  }

  async add(slice: Slice, sums: readonly UsageSum[]): Promise<SpansNotTaken | 'fenced'> {
    const spans = sums.map((sum) => spanOf(slice, sum))
    return await this.#take({ spans, slotLimits: this.#slotLimits })
  }

  /**
   * What wallets paid of these sums, which are of a day each or less. A wallet has one window for all times, so any second
   * will do.
   */
  async addDebits(slice: Slice, sums: readonly UsageSum[]): Promise<SpansNotTaken | 'fenced'> {
    return await this.#take({ spans: sums.map((sum) => debitSpanOf(slice, sum)) })
  }

  /** 'fenced' also when it had been done before and got no answer; the fence then stands at the offset. */
  async finish(nextOffset: number): Promise<'restored' | 'fenced'> {
    return await this.#hotState.finishRestore({ ...this.#of, step: this.#step, nextOffset })
  }

  async #take(step: Omit<RestoreStep, keyof RestorePosition>): Promise<SpansNotTaken | 'fenced'> {
    const answer = await this.#hotState.restore({ ...this.#of, step: this.#step, ...step })
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
