import { hasTestClocks } from '@tollgate/domain/test-clocks/customer-time'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { KeyHolder } from '../domain/key-holder.ts'

/** Times of the customers on a test clock in Unix milliseconds, by the reference in the request. */
export type TimesByCustomer = ReadonlyMap<string, number>

/**
 * Reads the times of customers on test clocks from the documents that name customers. Live requests read nothing, and those of the
 * sandbox one cached document for each customer.
 *
 * While the hot state does not answer, customers have real time: usage must be recorded anyway, and without a hot state nothing says
 * which customers have a clock.
 */
export class CustomerTimes {
  readonly #hotState: Pick<HotState, 'cachedEntryDocument'>
  readonly #partitions: number

  /** `partitions` is the number of partitions of the sandbox's usage topic. */
  constructor(hotState: Pick<HotState, 'cachedEntryDocument'>, partitions: number) {
    this.#hotState = hotState
    this.#partitions = partitions
  }

  /** Returns undefined if none of the customers has a clock, and a promise only if something must be read. */
  read(
    { environment, providerId }: KeyHolder,
    customerRefs: readonly string[],
  ): TimesByCustomer | undefined | Promise<TimesByCustomer | undefined> {
    if (!hasTestClocks(environment)) return undefined
    let times: Map<string, number> | undefined
    let reading: Promise<void>[] | undefined
    const note = (customerRef: string, document: string | undefined): void => {
      const clockMs = clockIn(document)
      if (clockMs !== undefined)
        times = (times ?? new Map<string, number>()).set(customerRef, clockMs)
    }
    for (let at = 0; at < customerRefs.length; at += 1) {
      const customerRef = customerRefs[at]!
      if (at > 0 && customerRef === customerRefs[at - 1]) continue
      const document = this.#documentOf(providerId, customerRef)
      if (document instanceof Promise) {
        reading ??= []
        reading.push(document.then((found) => note(customerRef, found)))
      } else if (document !== undefined) note(customerRef, document)
    }
    return reading === undefined ? times : Promise.all(reading).then(() => times)
  }

  #documentOf(
    providerId: string,
    customerRef: string,
  ): string | undefined | Promise<string | undefined> {
    const subject = subjectKey(providerId, customerRef)
    const partition = partitionOf(subject, this.#partitions)
    try {
      const at = { space: 'sandbox', partition, subject, scope: '' }
      const document = this.#hotState.cachedEntryDocument(at)
      return document instanceof Promise ? document.catch(() => undefined) : document
    } catch {
      return undefined
    }
  }
}

/** Nearly all documents name no clock, and need not be parsed. */
function clockIn(document: string | undefined): number | undefined {
  if (document === undefined || !document.includes('"clockMs"')) return undefined
  return (JSON.parse(document) as KnownCustomer).clockMs
}
