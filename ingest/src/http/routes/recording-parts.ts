import type { UsageRecordingParts } from '../../recording/record-usage.ts'
import type { KeyDirectory, KeyHolder } from '../../domain/key-holder.ts'
import type { MetersCache } from '../../hot-state/meters-cache.ts'
import type { Recharges } from '../../domain/recharges.ts'
import type { Receipt } from '../../domain/usage-events.ts'
import type { UnknownNameCounts } from '../unknown-in-call.ts'

/** Dependencies of the routes that record usage. */
export type RecordingParts = UsageRecordingParts & {
  readonly keys: KeyDirectory
  readonly meters: MetersCache
  readonly recharges: Recharges
  readonly nowMs: () => number
  readonly unknownNames: UnknownNameCounts
  readonly randomReference: (nowMs: number) => string
}

export function receiptOf(parts: RecordingParts, holder: KeyHolder): Receipt {
  return { holder, receivedAtMs: parts.nowMs(), randomReference: parts.randomReference }
}
