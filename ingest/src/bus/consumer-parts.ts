import type { BusMessage } from './bus-message.ts'
import type { BusCounts } from './bus-metrics.ts'
import type { Recorded } from './bus-recorder.ts'
import type { BusConfig } from './bus-settings.ts'
import type { HeldMessages } from './held-messages.ts'

/** Dependencies that the consumers of both NATS modes share. */
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
  /** Resolves or rejects when no more messages will arrive and the consumer must be created again. */
  readonly ended: Promise<void>
  /** Stops receiving messages and waits until the received ones are finished, for at most `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>
}
