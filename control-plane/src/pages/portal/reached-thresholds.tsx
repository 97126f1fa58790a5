import type { ReactElement } from 'react'
import type { ReachedThreshold } from '@tollgate/domain/alerts/firings-repository'
import type { Reader } from '../reader.ts'

type Props = { readonly reached: readonly ReachedThreshold[]; readonly reader: Reader }

/** One line for each limit: the highest threshold that usage has reached in the running period. */
export function ReachedThresholds({ reached, reader }: Props): ReactElement | null {
  const lines = highestByLimit(reached)
  if (lines.length === 0) return null
  return (
    <ul className="reached" aria-label={reader.t('portal:reachedInPeriod')}>
      {lines.map((line) => (
        <li key={`${line.watches} ${line.limit}`}>{reachedText(line, reader)}</li>
      ))}
    </ul>
  )
}

function highestByLimit(reached: readonly ReachedThreshold[]): ReachedThreshold[] {
  const highest = new Map<string, ReachedThreshold>()
  for (const each of reached) {
    const key = `${each.watches} ${each.limit}`
    const known = highest.get(key)
    if (known === undefined || known.threshold < each.threshold) highest.set(key, each)
  }
  return [...highest.values()]
}

function reachedText(reached: ReachedThreshold, { t, formats }: Reader): string {
  const { watches, percent, threshold, currency } = reached
  const limit = reached.limit ?? ''
  if (watches === 'budget' || (watches === 'spend' && percent !== null)) {
    return t('portal:reachedBudget', { percent: percent ?? 100 })
  }
  if (watches === 'spend') {
    const amount = formats.money(BigInt(threshold), (currency ?? '').toUpperCase())
    return t('portal:reachedSpend', { amount })
  }
  if (percent === null) return t('portal:reachedUnits', { units: threshold, limit })
  if (percent >= 100) return t('portal:reachedAll', { limit })
  return t('portal:reachedPercent', { percent, limit })
}
