import { deletionOf, type TestClock } from '@tollgate/domain/test-clocks/test-clock'
import type { TestClockBody } from '@tollgate/schemas/http/test-clocks'
import { definedFields } from '../../domain/defined-fields.ts'

/** Converts a clock that is not deleted. */
export function testClockToHttp(clock: TestClock): TestClockBody {
  const { status } = clock
  if (status === 'deleted') throw new Error(`the clock ${clock.reference} is deleted`)
  return {
    reference: clock.reference,
    ...definedFields({ name: clock.name }),
    status,
    frozenTime: clock.timeReached.toISOString(),
    ...definedFields({ advance: advanceOf(clock), failure: clock.failure }),
    createdAt: clock.createdAt.toISOString(),
    deletesAt: deletionOf(clock).toISOString(),
  }
}

function advanceOf({ advanceFrom: from, advanceTo: to, timeReached }: TestClock) {
  if (from === null || to === null) return null
  const totalMs = to.getTime() - from.getTime()
  const passedMs = timeReached.getTime() - from.getTime()
  const progress = totalMs === 0 ? 1 : Math.round((1_000 * passedMs) / totalMs) / 1_000
  return { from: from.toISOString(), to: to.toISOString(), progress }
}
