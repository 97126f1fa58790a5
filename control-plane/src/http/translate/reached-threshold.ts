import type { ReachedThreshold } from '@tollgate/domain/alerts/firings-repository'
import type { ReachedThresholdBody } from '@tollgate/schemas/http/alerts'
import { definedFields } from '../../domain/defined-fields.ts'

export function reachedToHttp(reached: ReachedThreshold): ReachedThresholdBody {
  const { watches, threshold, unit, created, periodEnd } = reached
  if (watches === 'wallet' || unit === 'credits') {
    throw new Error('the thresholds of wallets belong to no period')
  }
  return {
    watches,
    threshold,
    unit,
    ...definedFields({
      limit: reached.limit,
      meterName: reached.meterName,
      percent: reached.percent,
      currency: reached.currency?.toUpperCase(),
      periodEnd: periodEnd === null ? null : iso(periodEnd),
    }),
    reachedAt: iso(created),
  }
}

function iso(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString()
}
