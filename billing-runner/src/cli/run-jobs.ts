import { listDue } from '@tollgate/domain/calendar/claims'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import { CliError } from '@tollgate/platform/cli/cli-error'
import type { CliResult, Output } from '@tollgate/platform/cli/output'
import type { BillingRunnerConfig } from '../config.ts'
import type { ItemJob } from '../jobs/job.ts'
import { createJobs, type ScheduledJob } from '../jobs/job-catalogue.ts'
import { runOnce, type Totals } from '../jobs/run-once.ts'
import { openParts, publisherOf, taxServiceClientOf, type Parts } from '../open-parts.ts'
import type { RunOptions } from './program.ts'

export type RunContext = {
  readonly output: Output
  readonly stopping: AbortSignal
  /** Replace the parts that the settings would open. They are not closed. */
  readonly parts?: Partial<Parts>
}

/** Maximum due items that a dry run lists one by one. */
const listedMax = 50

/** Runs the chosen jobs one after the other, or prints what they would do. Throws a CliError for invalid options. */
export async function runJobs(
  config: BillingRunnerConfig,
  options: RunOptions,
  { output, stopping, parts: overrides = {} }: RunContext,
): Promise<void> {
  const at = options.at === undefined ? undefined : parseTime('--at', options.at)
  const parts = await openParts({ ...config, logLevel: 'error' }, overrides)
  const results: CliResult[] = []
  try {
    const jobs = chosenJobs(createJobs(config, parts), options)
    const isFuture = at !== undefined && at.getTime() > parts.clock.now()
    const touchesLive = options.environment !== 'sandbox'
    if (isFuture && touchesLive && options.dryRun !== true) {
      throw new CliError(
        '--at is in the future, and live runs nothing before its time. Add --dry-run or --environment sandbox.',
      )
    }
    const publisher = publisherOf(at === undefined ? parts : { ...parts, clock: fixedClock(at) })
    for (const { job, spaces } of jobs) {
      for (const space of spacesOf(spaces, options)) {
        if (stopping.aborted) break
        if (options.dryRun === true) {
          if (job.kind === 'items' && space !== 'control') {
            results.push(printResult(output, await explainDue(publisher, job, space)))
          }
          continue
        }
        const name = `${space} ${job.name}`
        const ask = taxServiceClientOf(config, parts)
        const slotParts = { publisher, ask, logger: parts.logger, limits: config }
        const totals = await runOnce(slotParts, job, space, stopping, (soFar) =>
          output.note(`${name}: ${formatTotals(soFar)} so far`),
        )
        const isStopped = stopping.aborted
        const text = [`${name}: ${isStopped ? 'stopped after ' : ''}${formatTotals(totals)}`]
        const outcomes = Object.fromEntries(totals)
        const json = { environment: space, job: job.name, outcomes, isStopped }
        results.push(printResult(output, { json, text }))
      }
    }
  } finally {
    await parts.close()
  }
  output.show({ json: results.map(({ json }) => json), text: [] })
}

/** Prints the lines of a job as soon as it has run. */
function printResult(output: Output, result: CliResult): CliResult {
  for (const line of result.text) output.note(line)
  return result
}

export function parseTime(option: string, text: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) {
    throw new CliError(
      `${option} ${text} is not a time. Use ISO 8601, for example 2027-01-31T12:00Z.`,
    )
  }
  return at
}

function chosenJobs(jobs: readonly ScheduledJob[], { job: name }: RunOptions): ScheduledJob[] {
  const chosen = jobs.filter(({ job }) => name === undefined || job.name === name)
  if (chosen.length === 0) {
    const names = jobs.map(({ job }) => job.name).join(', ')
    throw new CliError(`There is no job ${name}. Use one of ${names}.`)
  }
  return chosen
}

function spacesOf(
  spaces: readonly PublicationSpace[],
  { environment }: RunOptions,
): PublicationSpace[] {
  return spaces.filter((space) => environment === undefined || space === environment)
}

/** Returns a clock that always shows the given time. */
function fixedClock(at: Date): Parts['clock'] {
  return { now: () => at.getTime() }
}

async function explainDue(
  { database, now }: PublisherParts,
  job: ItemJob,
  space: Exclude<PublicationSpace, 'control'>,
): Promise<CliResult> {
  const pool = database.in(space)
  const { total, items } = await listDue(pool, job.due.select, now(), listedMax)
  const due: { providerId: string; item: string; change: string }[] = []
  for (const each of items) {
    const { providerId, item } = each
    due.push({ providerId, item, change: await job.explain(pool, each, now()) })
  }
  return {
    json: { environment: space, job: job.name, due: total, items: due },
    text: [
      `${space} ${job.name}: ${total} due`,
      ...due.map(({ providerId, item, change }) => `  ${providerId} ${item}: ${change}`),
      ...(total > items.length ? [`  and ${total - items.length} more`] : []),
    ],
  }
}

function formatTotals(totals: Totals): string {
  if (totals.size === 0) return 'nothing to do'
  return [...totals].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
}
