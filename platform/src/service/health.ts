/** One thing that must hold for the service to do its work. `check` throws with the reason when it does not. */
export type HealthCheck = {
  readonly name: string
  readonly check: () => Promise<void>
  /** The service does its work all the same when it fails, but an operator has to act. */
  readonly onlyDegrades?: true
}

export type HealthReport = {
  /** `degraded`: only checks failed that leave the service to its work. */
  readonly status: 'ok' | 'degraded' | 'failing'
  /** By check name: 'ok', or why not. */
  readonly checks: Readonly<Record<string, string>>
}

/** Runs all checks at once. A check that does not answer within `timeoutMs` has failed. */
export async function runHealthChecks(
  checks: readonly HealthCheck[],
  timeoutMs: number,
): Promise<HealthReport> {
  const results = await Promise.all(
    checks.map(async ({ name, check }) => [name, await outcomeOf(check, timeoutMs)] as const),
  )
  const failed = checks.filter((_, index) => results[index]![1] !== 'ok')
  const isDegraded = failed.every(({ onlyDegrades }) => onlyDegrades === true)
  return {
    status: failed.length === 0 ? 'ok' : isDegraded ? 'degraded' : 'failing',
    checks: Object.fromEntries(results),
  }
}

async function outcomeOf(check: () => Promise<void>, timeoutMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([check(), timeout])
    return 'ok'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}
