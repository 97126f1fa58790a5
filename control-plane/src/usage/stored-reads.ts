import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { refusals } from '../errors.ts'

/**
 * Limits how many reads of ClickHouse and the log run concurrently in place of the hot state. Each read costs the store 2 queries,
 * and this process must read the tail of the log.
 */
export class StoredReads {
  readonly #countMax: number
  #count = 0

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Runs the read. Throws a refusal with status 503 if the limit is reached, or if the result is not available now. */
  async run<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#countMax) throw refusals.countersBehind()
    this.#count += 1
    try {
      return await read()
    } catch (error) {
      const isTemporary =
        error instanceof UsageBehindError || error instanceof UsageStoreUnavailableError
      throw isTemporary ? refusals.countersBehind() : error
    } finally {
      this.#count -= 1
    }
  }
}
