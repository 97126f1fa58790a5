import { UsageStoreStatementError } from '@tollgate/platform/usage-store/usage-store'

/**
 * Lets the index of offsets skip rows before FINAL. The exact mode would read most of them again, for versions of a row that the
 * condition excludes. Here PREWHERE removes those before FINAL in every case, so both modes return the same.
 */
const skipping = 'use_skip_indexes_if_final = 1, use_skip_indexes_if_final_exact_mode = 0'

/** ClickHouse before 25.5 refuses the setting of the exact mode, and has no such mode. */
const skippingWithoutModes = 'use_skip_indexes_if_final = 1'

const unknownSetting = 115

/** Runs a statement with the settings for its SETTINGS clause, and again with those of earlier servers if they are refused. */
export async function withSkipIndexes<Result>(
  run: (settings: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(skipping)
  } catch (error) {
    const isRefused = error instanceof UsageStoreStatementError && error.code === unknownSetting
    if (!isRefused) throw error
    return await run(skippingWithoutModes)
  }
}
