import type { Increment } from '@tollgate/platform/hot-state/hot-state'
import { walletScope, walletSeries, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import type { MeterEvent } from '@tollgate/schemas/meter-event'

/** Sums the debits of wallets. */
export class DebitFold {
  readonly #increments = new Map<string, Increment>()

  add({ debit, providerId, customerRef, timestamp }: MeterEvent): void {
    if (debit === null) return
    const subject = walletSubject(providerId, customerRef)
    const second = Math.floor(timestamp / 1000)
    const key = `${second},${subject}`
    const before = this.#increments.get(key)?.amount ?? 0n
    const amount = before + BigInt(debit)
    this.#increments.set(key, { subject, scope: walletScope, series: walletSeries, second, amount })
  }

  increments(): Iterable<Increment> {
    return this.#increments.values()
  }
}
