import { AsyncLocalStorage } from 'node:async_hooks'
import type { StoredRecord } from '@tollgate/domain/customer-auth/oauth-records'
import type { ProviderRows, Queryable } from '@tollgate/platform/database/database'
import type { AuthResponse } from './run-provider.ts'

/*
 * The library writes one record at a time: it consumes a code, then stores a refresh token, and Tollgate stores the access token. A
 * crash in between would leave a consumed code without tokens, or a consumed refresh token without a successor. Therefore the
 * writes of a request are collected and committed in one transaction before the response is sent. A refused request writes nothing.
 */

type Write = (sql: Queryable) => Promise<void>

/** A record as it was before the request, or undefined if there was none. */
export type EarlierRecord = {
  readonly model: string
  readonly id: string
  readonly record: StoredRecord | undefined
}

type Collected = { readonly writes: Write[]; readonly earlier: EarlierRecord | undefined }

const collected = new AsyncLocalStorage<Collected>()

/** Another request has meanwhile used a record that may be used only once. */
export class AlreadyUsedError extends Error {}

/** Runs the write at once, or collects it with the other writes of the request. */
export async function writeOrCollect(rows: ProviderRows, change: Write): Promise<void> {
  const request = collected.getStore()
  if (request === undefined) await rows.write(change)
  else request.writes.push(change)
}

/** Returns the earlier record that the current request is to work with, if it is this one. */
export function findEarlierRecord(model: string, id: string): EarlierRecord | undefined {
  const earlier = collected.getStore()?.earlier
  return earlier?.model === model && earlier.id === id ? earlier : undefined
}

/**
 * Returns the response after all writes of its request are committed, together with the write that `addedWrite` returns. The
 * request reads `earlier` instead of the stored record. Rejects with `AlreadyUsedError` if another request was first, and then
 * writes nothing.
 */
export async function commitTogether(
  rows: ProviderRows,
  run: () => Promise<AuthResponse>,
  addedWrite?: (response: AuthResponse) => Write,
  earlier?: EarlierRecord,
): Promise<AuthResponse> {
  const writes: Write[] = []
  const response = await collected.run({ writes, earlier }, run)
  if (response.status >= 400) return response
  if (addedWrite !== undefined) writes.push(addedWrite(response))
  await rows.write(async (sql) => {
    for (const change of writes) await change(sql)
  })
  return response
}
