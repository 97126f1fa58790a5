import type { PublishedMeters } from '@tollgate/schemas/hot-state/documents'
import { ownKeyPath, ownKeySchema, ownMetersPath } from '@tollgate/schemas/http/own-key'
import type { FetchKey, FetchMeters } from '../domain/key-holder.ts'
import { UnavailableError } from '../domain/unavailable-error.ts'
import type { Proxy } from './proxy.ts'

/** Returns a function that reads the holder of a key from the control plane. */
export function createFetchKey(proxy: Pick<Proxy, 'get'>): FetchKey {
  return async (authorization) => {
    const { status, body } = await proxy.get(ownKeyPath, authorization)
    if (status === 401) return undefined
    if (status !== 200) throw new UnavailableError(`The control plane answered ${status}`)
    return ownKeySchema.parse(JSON.parse(body))
  }
}

/** Returns a function that reads the meters of a key's provider from the control plane. */
export function createFetchMeters(proxy: Pick<Proxy, 'get'>): FetchMeters {
  return async (authorization) => {
    const { status, body } = await proxy.get(ownMetersPath, authorization)
    if (status !== 200) throw new UnavailableError(`The control plane answered ${status}`)
    return JSON.parse(body) as PublishedMeters
  }
}
