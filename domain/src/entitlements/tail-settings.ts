import { integerSetting } from '@tollgate/platform/config/settings'

const count = { min: 1, max: 100_000_000 }
const milliseconds = { min: 1, max: 3_600_000 }

/** Limits for answering limit checks while the counters are behind the log. */
export const tailSettings = {
  tailRecordsMax: integerSetting(
    'TOLLGATE_TAIL_RECORDS_MAX',
    'Maximum records that a limit check reads from the log beyond the counters; beyond that, it reads ClickHouse or is answered with 503',
    200_000,
    count,
  ),
  tailBytesMax: integerSetting(
    'TOLLGATE_TAIL_BYTES_MAX',
    'Maximum bytes of memory for usage in the log that the counters have not applied yet, over all partitions; beyond that, limit checks are answered with 503',
    134_217_728,
    { min: 1_048_576, max: 68_719_476_736 },
  ),
  tailFoldsMax: integerSetting(
    'TOLLGATE_TAIL_FOLDS_MAX',
    'Maximum partitions whose log is read for limit checks at a time; further partitions wait',
    4,
    { min: 1, max: 1_000 },
  ),
  tailWaitMs: integerSetting(
    'TOLLGATE_TAIL_WAIT_MS',
    'Milliseconds that a limit check waits until the log beyond the counters is read; after that, it is answered with 503',
    5_000,
    milliseconds,
  ),
  countersStandstillMs: integerSetting(
    'TOLLGATE_COUNTERS_STANDSTILL_MS',
    'Milliseconds without progress of the counters after which limit checks stop waiting for them',
    100,
    milliseconds,
  ),
  awaitedRecordsMax: integerSetting(
    'TOLLGATE_AWAITED_RECORDS_MAX',
    'Maximum lag of the counters, in records, for which a limit check waits for them; with a larger lag, it reads the log instead',
    10_000,
    count,
  ),
}
