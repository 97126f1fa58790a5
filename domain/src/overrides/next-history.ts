import { isDeepStrictEqual } from 'node:util'
import { daysMax, overrideVersionsMax, timestampPastMsMax } from '@tollgate/schemas/limits'
import { wholeSecond } from '../periods/periods.ts'
import type { Overrides, OverridesVersion } from './overrides.ts'

/** No bill needs a version that ended longer ago than the longest period and the time in which late usage is accepted. */
const keptMs = daysMax * 86_400_000 + 2 * timestampPastMsMax

/**
 * Returns all versions after a change, oldest first, with `history` itself if nothing changes. Undefined if there were too many
 * changes. A version applies to periods that begin in the same second, so a purchase right after the change has it. `beginsNow`: a
 * period began in this second, before the change. Other prices of plans then wait for the next second, because it may be charged.
 */
export function nextHistory(
  history: readonly OverridesVersion[],
  { charges, usageLimits, prices = [] }: Overrides,
  now: Date,
  beginsNow = false,
): readonly OverridesVersion[] | undefined {
  const last = history.at(-1)
  const before: Overrides = last ?? { charges: [], usageLimits: [] }
  const isSame = isDeepStrictEqual(
    [before.charges, before.usageLimits, before.prices ?? []],
    [charges, usageLimits, prices],
  )
  if (isSame) return history
  // Clocks of two processes differ, and versions are in the order of their changes.
  const isPriced = !isDeepStrictEqual(before.prices ?? [], prices)
  const sinceMs = Math.max(
    wholeSecond(now).getTime() + (beginsNow && isPriced ? 1_000 : 0),
    last === undefined ? 0 : Date.parse(last.since),
  )
  const since = new Date(sinceMs).toISOString()
  const earlier = history.filter((version, at) => {
    if (version.since === since) return false
    const next = history[at + 1]
    return next === undefined || Date.parse(next.since) > now.getTime() - keptMs
  })
  const priced = prices.length === 0 ? {} : { prices }
  const versions = [...earlier, { since, charges, usageLimits, ...priced }]
  return versions.length > overrideVersionsMax ? undefined : versions
}
