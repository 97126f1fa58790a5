import { CliError } from '@tollgate/platform/cli/cli-error'
import type { CliResult, Output } from '@tollgate/platform/cli/output'
import { readSettings } from '@tollgate/platform/config/settings'
import type { Database } from '@tollgate/platform/database/database'
import {
  databaseAddresses,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import {
  clickHouseConnection,
  clickHouseSettings,
} from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { createClickHouseUsageStore } from '@tollgate/platform/usage-store/clickhouse/clickhouse-usage-store'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { findMeterByName, type Meter } from '@tollgate/domain/meters/repository'
import type { Environment } from '@tollgate/schemas/environment'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { isBilledAt, listBilledUsage } from './billed-usage.ts'
import type { RecountOptions } from './recount-command.ts'
import { RecountTally, type RecountGroup } from './recount.ts'
import { readStoredEvents } from './stored-events.ts'

const requestTimeoutMs = 300_000
/** Records between two lines of progress. */
const progressEvery = 100_000

/** Prints how the usage of a meter would change if its current version had counted the records of the range. Changes nothing. */
export async function runRecount(
  settings: Readonly<Record<string, string | undefined>>,
  options: RecountOptions,
  output: Output,
): Promise<void> {
  const config = readSettings({ ...databaseSettings, ...clickHouseSettings }, settings)
  const database = createPostgresDatabase({
    ...databaseAddresses(config),
    poolMax: 2,
    connectTimeoutSeconds: 5,
  })
  const store = createClickHouseUsageStore(clickHouseConnection(config, { requestTimeoutMs }))
  try {
    output.show(await recount({ database, store, note: output.note }, options))
  } finally {
    await store.close()
    await database.close()
  }
}

export type RecountParts = {
  readonly database: Pick<Database, 'in'>
  readonly store: Pick<UsageStore, 'query'>
  readonly note: (line: string) => void
}

type BilledCustomer = {
  readonly customerRef: string | undefined
  readonly ranges: Awaited<ReturnType<typeof listBilledUsage>>
}

export async function recount(
  { database, store, note }: RecountParts,
  { environment, provider: providerId, meter: meterName, from, to }: RecountOptions,
): Promise<CliResult> {
  const range = { fromMs: from.getTime(), toMs: to.getTime() }
  if (range.fromMs >= range.toMs) throw new CliError('--to must be after --from.')
  const sql = database.in(environment)
  const meter = await findMeterByName(sql, providerId, meterName)
  if (meter === undefined) {
    throw new CliError(`Provider ${providerId} has no meter ${meterName} in ${environment}.`)
  }
  const { reads } = meter
  if (reads === null) {
    throw new CliError(
      `Meter ${meterName} counts the calls that name it. Nothing can be recounted.`,
    )
  }
  const tally = new RecountTally({ name: meterName, reading: reads.reading })
  // Pages are sorted by customer, so that one customer's periods are kept at a time.
  let billed: BilledCustomer = { customerRef: undefined, ranges: [] }
  const question = { environment, providerId, meterName, type: reads.reading.type, ...range }
  let noted = 0
  for await (const page of readStoredEvents(store, question)) {
    for (const event of page) {
      const { customerRef } = event
      if (customerRef !== billed.customerRef) {
        billed = { customerRef, ranges: await listBilledUsage(sql, providerId, customerRef) }
      }
      tally.add(event, isBilledAt(billed.ranges, event))
    }
    if (tally.records - noted < progressEvery) continue
    noted = tally.records
    note(`${tally.records} records read ...`)
  }
  return resultOf(meter, environment, { from, to }, tally)
}

function resultOf(
  { name, reads, unit }: Meter,
  environment: Environment,
  { from, to }: { readonly from: Date; readonly to: Date },
  tally: RecountTally,
): CliResult {
  const groups = tally.differences()
  const { records } = tally
  const version = reads?.version ?? 0
  return {
    json: {
      environment,
      meter: name,
      version,
      from: from.toISOString(),
      to: to.toISOString(),
      records,
      changes: groups.map(({ beforeMicros, afterMicros, ...group }) => ({
        ...group,
        before: beforeMicros === null ? null : decimalFromMicros(beforeMicros),
        after: afterMicros === null ? null : decimalFromMicros(afterMicros),
      })),
    },
    text: [
      `Version ${version} of ${name}: ${records} records read, nothing was changed.`,
      ...(groups.length === 0
        ? ['No usage would change.']
        : groups.map((each) => lineOf(each, unit))),
    ],
    quiet: groups.map(({ customerRef }) => customerRef),
  }
}

function lineOf(group: RecountGroup, unit: string): string {
  const { customerRef, productRef, month, isBilled, changed, refused } = group
  const { beforeMicros, afterMicros } = group
  const sums =
    beforeMicros === null || afterMicros === null
      ? ''
      : `: ${decimalFromMicros(beforeMicros)} -> ${decimalFromMicros(afterMicros)} ${unit}`
  const notes = [
    ...(refused > 0 ? [`${refused} refused`] : []),
    ...(isBilled ? ['already billed'] : []),
  ]
  const place = [month, customerRef, productRef].filter((each) => each !== '').join(' ')
  return `${place}${sums}, ${changed} records differ${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`
}
