import type { Database } from '@tollgate/platform/database/database'
import { dispatcherChannel } from '@tollgate/domain/outbox/dispatcher-channel'
import { environments, type Environment } from '@tollgate/schemas/environment'

/** `syncEndpoints` is called when endpoints were enabled, disabled or deleted. */
type Wakeable = { readonly wake: () => void; readonly syncEndpoints: () => void }

/**
 * Wakes an environment when a transaction commits that queues deliveries or changes endpoints. After a lost connection is restored,
 * wakes all environments, because notifications sent in between were lost.
 */
export async function listenForWork(
  database: Database,
  each: Readonly<Record<Environment, Wakeable>>,
): Promise<{ stop(): Promise<void> }> {
  const onNotification = (payload: string): void => {
    const [space, kind] = payload.split(' ')
    const environment = environments.find((name) => name === space)
    if (environment === undefined) return
    if (kind === 'endpoints') each[environment].syncEndpoints()
    else each[environment].wake()
  }
  const wakeAll = (): void => {
    for (const environment of environments) each[environment].syncEndpoints()
  }
  const listening = await database.control.listen(dispatcherChannel, onNotification, wakeAll)
  return { stop: () => listening.unlisten() }
}
