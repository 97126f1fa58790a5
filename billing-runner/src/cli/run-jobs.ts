import { listDue } from '@tollgate/domain/calendar/claims'
import type { PublicationSpace } from '@tollgate/domain/publications/publisher'
import type { PublisherParts } from '@tollgate/domain/publications/publisher-parts'
import type { BillingRunnerConfig } from '../config.ts'
import type { ItemJob } from '../jobs/job.ts'
import { createJobs, type ScheduledJob } from '../jobs/job-catalogue.ts'
import { runOnce, type Totals } from '../jobs/run-once.ts'
import { openParts, publisherOf, type Parts } from '../open-parts.ts'
import type { AskedRun } from './program.ts'

/** Whoever asked must ask otherwise. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export type RunSurroundings = {
  readonly print: (line: string) => void
  readonly stopping: AbortSignal
  /** Used and not closed, in place of what the settings name. */
  readonly parts?: Partial<Parts>
}

/** That many of what is due are shown one by one. */
const shownMax = 50

/** Runs jobs by hand, one after the other, or says what they would do. Throws CommandError for what makes no sense. */
export async function runJobs(
  config: BillingRunnerConfig,
  asked: AskedRun,
  { print, stopping, parts: overrides = {} }: RunSurroundings,
): Promise<void> {
  const at = asked.at === undefined ? undefined : parseTime('--at', asked.at)
  const parts = await openParts({ ...config, logLevel: 'error' }, overrides)
  try {
    const jobs = chosenJobs(createJobs(config, parts), asked)
    const isFuture = at !== undefined && at.getTime() > parts.clock.now()
    const touchesLive = asked.environment !== 'sandbox'
    if (isFuture && touchesLive && asked.dryRun !== true) {
      throw new CommandError(
        'nothing of live is done before its time: add --dry-run or --environment sandbox',
      )
    }
    const publisher = publisherOf(at === undefined ? parts : { ...parts, clock: standing(at) })
    for (const { job, spaces } of jobs) {
      for (const space of spacesOf(spaces, asked)) {
        if (stopping.aborted) return
        const name = `${space} ${job.name}`
        if (asked.dryRun === true) {
          if (job.kind === 'items') await explainDue(publisher, job, space, name, print)
          continue
        }
        const slotParts = { publisher, logger: parts.logger, limits: config }
        const totals = await runOnce(slotParts, job, space, stopping, (soFar) =>
          print(`${name}: ${shown(soFar)} so far`),
        )
        print(`${name}: ${stopping.aborted ? 'stopped after ' : ''}${shown(totals)}`)
      }
    }
  } finally {
    await parts.close()
  }
}

export function parseTime(option: string, text: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new CommandError(`${option} ${text} is no ISO 8601 time`)
  return at
}

function chosenJobs(jobs: readonly ScheduledJob[], { job: name }: AskedRun): ScheduledJob[] {
  const chosen = jobs.filter(({ job }) => name === undefined || job.name === name)
  if (chosen.length === 0) {
    const names = jobs.map(({ job }) => job.name).join(', ')
    throw new CommandError(`there is no job ${name}; there are ${names}`)
  }
  return chosen
}

function spacesOf(
  spaces: readonly PublicationSpace[],
  { environment }: AskedRun,
): PublicationSpace[] {
  return spaces.filter((space) => environment === undefined || space === environment)
}

/** A clock that stands at the time that was asked for. */
function standing(at: Date): Parts['clock'] {
  return { now: () => at.getTime() }
}

async function explainDue(
  { database, now }: PublisherParts,
  job: ItemJob,
  space: PublicationSpace,
  name: string,
  print: (line: string) => void,
): Promise<void> {
  if (space === 'control') return
  const pool = database.in(space)
  const { total, items } = await listDue(pool, job.selectDue, now(), shownMax)
  print(`${name}: ${total} due`)
  for (const due of items) {
    print(`  ${due.providerId} ${due.item}: ${await job.explain(pool, due, now())}`)
  }
  if (total > items.length) print(`  and ${total - items.length} more`)
}

function shown(totals: Totals): string {
  if (totals.size === 0) return 'nothing to do'
  return [...totals].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
}
