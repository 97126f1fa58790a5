import { testClockSpareMs } from '@tollgate/schemas/limits'

/** `advancing`: a runner moves the clock. The other states stand still. The customers of a deleted clock are deleted. */
export type TestClockStatus = 'ready' | 'advancing' | 'paused' | 'failed' | 'deleted'

export type TestClock = {
  readonly reference: string
  readonly name: string | null
  readonly status: TestClockStatus
  /** The time of the clock's customers. */
  readonly timeReached: Date
  /** Everything that was due up to here is processed. */
  readonly processedTo: Date
  /** Where the last advance began and ends. Null if the clock was never advanced. */
  readonly advanceFrom: Date | null
  readonly advanceTo: Date | null
  /** What failed. Set exactly while the status is `failed`. */
  readonly failure: string | null
  /** Whether a deletion of its customers has begun. After a crash it is repeated. */
  readonly isDeleting: boolean
  /** `createdAt`, `updatedAt` and `expiresAt` are real times. */
  readonly createdAt: Date
  readonly updatedAt: Date
  /** End of the lifetime. */
  readonly expiresAt: Date
}

/** Returns when the clock is deleted with its customers: at the end of its lifetime, or before real time reaches it. */
export function deletionOf({
  timeReached,
  expiresAt,
}: Pick<TestClock, 'timeReached' | 'expiresAt'>): Date {
  const overtakenMs = timeReached.getTime() - testClockSpareMs
  return new Date(Math.min(expiresAt.getTime(), overtakenMs))
}
