import {
  storeMissingRecords,
  type LogPlace,
  type StoringProgress,
} from '@tollgate/domain/reconciliation/store-again'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { environments } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { BillingRunnerConfig } from '../config.ts'
import { openParts, type Parts } from '../open-parts.ts'
import type { RestoreOptions } from './program.ts'
import type { RunContext } from './run-jobs.ts'

/** Interval between two lines of progress. */
const progressEveryMs = 5_000

/** Stores records in ClickHouse that the log has and ClickHouse lacks. The sink stores them, so it must be running. */
export async function restoreUsage(
  config: BillingRunnerConfig,
  options: RestoreOptions,
  { output, stopping, parts: overrides = {} }: RunContext,
): Promise<void> {
  const parts = await openParts({ ...config, logLevel: 'error' }, overrides)
  try {
    const places = environments
      .filter((each) => options.environment === undefined || each === options.environment)
      .flatMap((environment) => placesOf(parts, environment))
    const isDone = await restoreFromLog(parts, places, { output, stopping })
    if (!isDone) throw new CliError('Stopped. Run the same command again to continue from here.')
    output.show({
      json: { isComplete: true },
      text: ['ClickHouse has all records that the log has.'],
    })
  } finally {
    await parts.close()
  }
}

function placesOf({ eventLog }: Parts, environment: LogPlace['environment']): LogPlace[] {
  const length = eventLog.partitionCount(usageTopic(environment))
  return Array.from({ length }, (_, partition) => ({ environment, partition }))
}

/** Returns false if `stopping` was aborted before the end. */
export async function restoreFromLog(
  { eventLog, hotState, clock }: Parts,
  places: readonly LogPlace[],
  { output, stopping }: Pick<RunContext, 'output' | 'stopping'>,
): Promise<boolean> {
  let reportedAtMs = performance.now()
  const report = (progress: readonly StoringProgress[]): void => {
    if (performance.now() - reportedAtMs < progressEveryMs) return
    reportedAtMs = performance.now()
    for (const each of progress) if (each.phase !== 'done') output.note(lineOf(each))
  }
  const now = (): Date => new Date(clock.now())
  return await storeMissingRecords({ eventLog, hotState, now }, places, stopping, report)
}

function lineOf({ environment, partition, phase, offset, endOffset }: StoringProgress): string {
  const what = { waiting: 'waits for the sink', comparing: 'compared', storing: 'stored', done: '' }
  const where = phase === 'waiting' ? '' : ` up to ${offset} of ${endOffset}`
  return `${environment} partition ${partition}: ${what[phase]}${where}`
}
