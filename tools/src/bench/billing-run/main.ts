/*
 * The measured process of `measure-billing.ts`: one run of a job, in a process that does nothing else, so that its memory
 * and its processor time are those of the run. Told by its arguments: the job and the time it takes it to be.
 */
import { readFileSync } from 'node:fs'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { openParts, publisherOf } from '@tollgate/billing-runner/open-parts'
import type { OwnRun } from '../billing/measured-run.ts'

const [, , jobName, at] = process.argv
const clock = { now: () => Date.parse(at!) }
const config = readBillingRunnerConfig({ ...process.env, TOLLGATE_LOG_LEVEL: 'error' })
const parts = await openParts(config, { clock })
const job = createJobs(config, parts).find((each) => each.job.name === jobName)!.job
const slotParts = { publisher: publisherOf(parts), logger: parts.logger, limits: config }

const batchSeconds: number[] = []
let memoryMiB = 0
const beganMs = performance.now()
let batchBeganMs = beganMs
const totals = await runOnce(slotParts, job, 'sandbox', new AbortController().signal, () => {
  const nowMs = performance.now()
  batchSeconds.push((nowMs - batchBeganMs) / 1_000)
  batchBeganMs = nowMs
  memoryMiB = Math.max(memoryMiB, ownMemoryMiB())
})
const { user, system } = process.cpuUsage()
const measured: OwnRun = {
  outcomes: Object.fromEntries(totals),
  seconds: (performance.now() - beganMs) / 1_000,
  processorSeconds: (user + system) / 1e6,
  memoryMiB,
  batchSeconds,
}
process.send!(measured)
await parts.close()
process.disconnect()

/** Without what is mapped of files, as the hot state is: that is the page cache of the machine. Linux only. */
function ownMemoryMiB(): number {
  const [, kib] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) / 1_024
}
