import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import type { PreviewAt, PreviewParts } from '@tollgate/domain/previews/preview-invoices'
import type { AnsweredParts } from '@tollgate/domain/unit-of-work/read-answered'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { clampPage } from '@tollgate/schemas/http/fields'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import type { Caller } from '../access/caller.ts'
import type { ControlPlaneConfig } from '../config.ts'
import { refusals } from '../errors.ts'

type Parts = AnsweredParts & {
  readonly eventLog: EventLog
  readonly usageStore: UsageStore
  readonly clock: Clock
}

type Limits = Pick<
  ControlPlaneConfig,
  'usageGraceMinutes' | 'usageStoreWaitMs' | 'previewsMax' | 'previewHoldersMax'
>

type Page = Parameters<typeof clampPage>[0]

/** Computes previews. Each one sums up usage in ClickHouse, so their number is limited. */
export class Previews {
  readonly #holdersMax: number
  readonly #parts: PreviewParts
  readonly #countMax: number
  #count = 0

  constructor({ clock, ...parts }: Parts, limits: Limits) {
    this.#countMax = limits.previewsMax
    this.#holdersMax = limits.previewHoldersMax
    this.#parts = {
      ...parts,
      now: () => new Date(clock.now()),
      storedWaitMs: limits.usageStoreWaitMs,
      delays: { graceMs: limits.usageGraceMinutes * 60_000, lateMs: timestampPastMsMax },
    }
  }

  /** Returns the requested page of a list of holders. Without a limit, it has as many holders as a preview computes. */
  holdersPage({ limit = this.#holdersMax, offset }: Page): ReturnType<typeof clampPage> {
    return clampPage({ limit: Math.min(limit, this.#holdersMax), offset })
  }

  /**
   * Runs the body. Throws a refusal with status 503 if too many previews are being computed, or while a restarted ClickHouse was not
   * compared with the log.
   */
  async run<Result>(
    { providerId, environment }: Caller,
    body: (parts: PreviewParts, at: PreviewAt) => Promise<Result>,
  ): Promise<Result> {
    if (this.#count >= this.#countMax) throw refusals.tooManyPreviews()
    this.#count += 1
    try {
      return await body(this.#parts, { providerId, environment, now: this.#parts.now() })
    } catch (error) {
      throw error instanceof UsageBehindError ? refusals.usageBehind() : error
    } finally {
      this.#count -= 1
    }
  }
}
