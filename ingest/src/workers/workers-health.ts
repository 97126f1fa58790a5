import type { HealthCheck, HealthReport } from '@tollgate/platform/service/health'

/** A worker, as far as health is concerned. */
export type CheckedWorker = {
  readonly name: string
  readonly isRunning: boolean
  readHealth(): Promise<HealthReport>
}

/**
 * Returns the checks of several workers on one port. The system sends connections to the workers that listen, so a worker that is
 * being started again only degrades the service. A worker that listens and cannot work makes it unready, because it gets its share
 * of the requests.
 */
export function workersHealth(workers: readonly CheckedWorker[]): HealthCheck[] {
  return [
    { name: 'workers', check: () => requireWorking(workers) },
    ...workers.map((worker) => ({
      name: worker.name,
      check: () => requireOk(worker),
      onlyDegrades: true as const,
    })),
  ]
}

async function requireWorking(workers: readonly CheckedWorker[]): Promise<void> {
  const running = workers.filter(({ isRunning }) => isRunning)
  if (running.length === 0) throw new Error('no worker runs')
  const failing = await Promise.all(
    running.map(async (worker) => {
      // A worker that hangs still gets its share of the connections, so no answer is a failure.
      const isFailing = await worker.readHealth().then(
        ({ status }) => status === 'failing',
        () => worker.isRunning,
      )
      return isFailing ? [worker.name] : []
    }),
  )
  const names = failing.flat()
  if (names.length > 0) throw new Error(`not ready: ${names.join(', ')}`)
}

async function requireOk(worker: CheckedWorker): Promise<void> {
  if (!worker.isRunning) throw new Error('it does not run, and is being started again')
  const { checks } = await worker.readHealth()
  const failed = Object.entries(checks).filter(([, outcome]) => outcome !== 'ok')
  if (failed.length === 0) return
  throw new Error(failed.map(([name, outcome]) => `${name}: ${outcome}`).join('; '))
}
