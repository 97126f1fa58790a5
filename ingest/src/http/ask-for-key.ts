import { ownKeyPath, ownKeySchema } from '@tollgate/schemas/http/own-key'
import type { AskForKey } from '../domain/key-holder.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Proxy } from './proxy.ts'

/** Asks the control plane whose key it is. */
export function createAskForKey(proxy: Pick<Proxy, 'get'>): AskForKey {
  return async (authorization) => {
    const { status, body } = await proxy.get(ownKeyPath, authorization)
    if (status === 401) return undefined
    if (status !== 200) throw new UnavailableError(`The control plane answered ${status}`)
    return ownKeySchema.parse(JSON.parse(body))
  }
}
