import type { BusMessage } from './bus-message.ts'
import type { BusCounts } from './bus-metrics.ts'
import type { Recorded } from './bus-recorder.ts'
import type { BusConfig } from './bus-settings.ts'
import type { HeldMessages } from './held-messages.ts'

/** What both modes work with. */
export type ConsumerParts = {
  readonly config: BusConfig
  readonly subjects: readonly string[]
  readonly held: HeldMessages
  readonly counts: BusCounts
  readonly record: (messages: readonly BusMessage[]) => Promise<Recorded[]>
  readonly nowMs: () => number
  readonly onError: (error: Error) => void
}

export type RunningConsumer = {
  /** Resolves or rejects when no message comes any more and the consumer has to be made again. */
  readonly ended: Promise<void>
  /** Takes no more messages, and finishes those that are held, for at most so many milliseconds. */
  stop(graceMs: number): Promise<void>
}
