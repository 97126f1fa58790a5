import { isDeepStrictEqual } from 'node:util'
import { daysMax, overrideVersionsMax, timestampPastMsMax } from '@tollgate/schemas/limits'
import { wholeSecond } from '../periods/periods.ts'
import type { Overrides, OverridesVersion } from './overrides.ts'

/** No bill needs a version that ended longer ago than the longest period and the time in which late usage is accepted. */
const keptMs = daysMax * 86_400_000 + 2 * timestampPastMsMax

/**
 * Returns all versions after a change, oldest first, with `history` itself if nothing changes. Undefined if there were too many
 * changes. A version applies to periods that begin in the same second, so a purchase right after the change has it.
 */
export function nextHistory(
  history: readonly OverridesVersion[],
  { charges, usageLimits }: Overrides,
  now: Date,
): readonly OverridesVersion[] | undefined {
  const last = history.at(-1)
  const before: Overrides = last ?? { charges: [], usageLimits: [] }
  const isSame = isDeepStrictEqual([before.charges, before.usageLimits], [charges, usageLimits])
  if (isSame) return history
  // Clocks of two processes differ, and versions are in the order of their changes.
  const sinceMs = Math.max(
    wholeSecond(now).getTime(),
    last === undefined ? 0 : Date.parse(last.since),
  )
  const since = new Date(sinceMs).toISOString()
  const earlier = history.filter((version, at) => {
    if (version.since === since) return false
    const next = history[at + 1]
    return next === undefined || Date.parse(next.since) > now.getTime() - keptMs
  })
  const versions = [...earlier, { since, charges, usageLimits }]
  return versions.length > overrideVersionsMax ? undefined : versions
}
