import type { Database } from '@tollgate/platform/database/database'
import { dispatcherChannel } from '@tollgate/domain/outbox/dispatcher-channel'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** `settle`: endpoints were enabled, disabled or deleted. */
type Wakeable = { readonly wake: () => void; readonly settle: () => void }

/**
 * Wakes environments as transactions commit that have something to send. Whenever the connection is back after it was lost,
 * all are: what was told meanwhile nobody has heard.
 */
export async function listenForWork(
  database: Database,
  each: Readonly<Record<Environment, Wakeable>>,
): Promise<{ stop(): Promise<void> }> {
  const hear = (told: string): void => {
    const [space, what] = told.split(' ')
    const environment = environments.find((name) => name === space)
    if (environment === undefined) return
    if (what === 'endpoints') each[environment].settle()
    else each[environment].wake()
  }
  const wakeAll = (): void => {
    for (const environment of environments) each[environment].settle()
  }
  const listening = await database.control.listen(dispatcherChannel, hear, wakeAll)
  return { stop: () => listening.unlisten() }
}
