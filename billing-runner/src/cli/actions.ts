import type { Output } from '@tollgate/platform/cli/output'
import { readSettings } from '@tollgate/platform/config/settings'
import type { BillingRunnerConfig } from '../config.ts'
import type { BillingActions } from './program.ts'
import type { RunContext } from './run-jobs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Actions of the billing commands. Each loads its code and reads settings when its command runs. */
export function billingActions(
  output: Output,
  readEnvironment: () => Promise<Environment>,
): BillingActions {
  const readConfig = async (): Promise<BillingRunnerConfig> => {
    const { billingRunnerSettings } = await import('../config.ts')
    return readSettings(billingRunnerSettings, await readEnvironment())
  }
  return {
    async run(options) {
      const { runJobs } = await import('./run-jobs.ts')
      await runJobs(await readConfig(), options, runContext(output))
    },
    async reconcile(options) {
      const { reconcileNow } = await import('./reconcile-command.ts')
      await reconcileNow(await readConfig(), options, runContext(output))
    },
    async restoreUsage(options) {
      const { restoreUsage } = await import('./restore-command.ts')
      await restoreUsage(await readConfig(), options, runContext(output))
    },
  }
}

/** Aborts `stopping` on the first SIGINT or SIGTERM. The command then finishes the work in progress and stops. */
function runContext(output: Output): RunContext {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  return { output, stopping: stopping.signal }
}
