import type { SettingValues } from '@tollgate/platform/config/settings'
import { CounterProgress } from './counter-progress.ts'
import type { PartitionTailParts } from './partition-tail.ts'
import { SharedTails } from './shared-tails.ts'
import type { tailSettings } from './tail-settings.ts'

/** Parts that all limit checks of a process share while the counters are behind. */
export type TailParts = {
  readonly tails: SharedTails
  readonly progress: CounterProgress
}

export function createTailParts(
  parts: PartitionTailParts,
  settings: SettingValues<typeof tailSettings>,
): TailParts {
  return {
    tails: new SharedTails(parts, {
      bytesMax: settings.tailBytesMax,
      foldsMax: settings.tailFoldsMax,
      waitMs: settings.tailWaitMs,
    }),
    progress: new CounterProgress({
      standstillMs: settings.countersStandstillMs,
      awaitedRecordsMax: settings.awaitedRecordsMax,
    }),
  }
}
