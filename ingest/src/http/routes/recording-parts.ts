import type { DebitDecider } from '../../domain/debit-decider.ts'
import type { EventRecorder } from '../../domain/event-recorder.ts'
import type { KeyDirectory, KeyHolder } from '../../domain/key-holder.ts'
import type { MeterDirectory } from '../../domain/meter-directory.ts'
import type { PlaceEvent } from '../../domain/placed-event.ts'
import type { Receipt } from '../../domain/usage-events.ts'

/** What the routes that record usage are made of. */
export type RecordingParts = {
  readonly keys: KeyDirectory
  readonly meters: MeterDirectory
  readonly recorder: EventRecorder
  readonly debits: DebitDecider
  readonly place: PlaceEvent
  readonly nowMs: () => number
  readonly randomReference: (nowMs: number) => string
}

export function receiptOf(parts: RecordingParts, holder: KeyHolder): Receipt {
  return { holder, receivedAtMs: parts.nowMs(), randomReference: parts.randomReference }
}
