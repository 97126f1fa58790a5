import type { AggregatorConfig } from './config.ts'
import type { Retention } from './domain/retention.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

export function retentionOf(config: AggregatorConfig): Retention {
  return {
    marksMs: config.marksRetentionDays * dayMs,
    windowsMs: config.windowsRetentionDays * dayMs,
    slotsMs: config.slotsRetentionDays * dayMs,
    knownSubjectSlotsMs: config.knownSubjectSlotsRetentionMinutes * minuteMs,
    sweepKeysMax: config.sweepKeysMax,
  }
}
