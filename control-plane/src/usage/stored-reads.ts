import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { refusals } from '../errors.ts'

/**
 * Bounds what is read from ClickHouse and the log at a time, in place of the hot state: each reading costs the store two queries,
 * and this process the reading of the log's tail.
 */
export class StoredReads {
  readonly #countMax: number
  #count = 0

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Throws a refusal with 503 when the bound is reached, or when the answer is not known now. */
  async run<Result>(read: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#countMax) throw refusals.countersBehind()
    this.#count += 1
    try {
      return await read()
    } catch (error) {
      const isPassing =
        error instanceof UsageBehindError || error instanceof UsageStoreUnavailableError
      throw isPassing ? refusals.countersBehind() : error
    } finally {
      this.#count -= 1
    }
  }
}
