/*
 * The measured process of `measure-billing.ts`. It only runs one job, so that its memory and CPU time are those of the run.
 * Arguments: the name of the job and the time that its clock shows.
 */
import { readFileSync } from 'node:fs'
import { readBillingRunnerConfig } from '@tollgate/billing-runner/config'
import { createJobs } from '@tollgate/billing-runner/jobs/job-catalogue'
import { runOnce } from '@tollgate/billing-runner/jobs/run-once'
import { openParts, publisherOf } from '@tollgate/billing-runner/open-parts'
import type { RunnerResult } from '../billing/measured-run.ts'

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
const measured: RunnerResult = {
  outcomes: Object.fromEntries(totals),
  seconds: (performance.now() - beganMs) / 1_000,
  processorSeconds: (user + system) / 1e6,
  memoryMiB,
  batchSeconds,
}
process.send!(measured)
await parts.close()
process.disconnect()

/**
 * Returns the anonymous memory of this process in MiB. Mapped files such as hot state are excluded, because they are page cache.
 * Works on Linux only.
 */
function ownMemoryMiB(): number {
  const [, kib] = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kib) / 1_024
}
