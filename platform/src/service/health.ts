/** A condition that the service needs to do its work. `check` throws with the reason if it does not hold. */
export type HealthCheck = {
  readonly name: string
  readonly check: () => Promise<void>
  /** The service continues to work if the check fails, but an operator has to act. */
  readonly onlyDegrades?: true
}

export type HealthReport = {
  /** `degraded` means that only checks failed without which the service continues to work. */
  readonly status: 'ok' | 'degraded' | 'failing'
  /** Outcomes by name of the check: 'ok', or the reason of the failure. */
  readonly checks: Readonly<Record<string, string>>
}

/** Runs all checks concurrently. A check that does not answer within `timeoutMs` has failed. */
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
