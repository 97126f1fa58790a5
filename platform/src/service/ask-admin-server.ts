import { request } from 'undici'

export type AdminResponse = { readonly status: number; readonly text: string }

/** Sends GET to the admin server of a process that this one has started. Rejects if the response is not complete in time. */
export async function askAdminServer(
  url: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<AdminResponse> {
  const late = AbortSignal.timeout(timeoutMs)
  const given = signal === undefined ? late : AbortSignal.any([signal, late])
  // A new connection each time: a kept one would belong to a process that may have been replaced.
  const { statusCode, body } = await request(url, { signal: given, reset: true })
  return { status: statusCode, text: await body.text() }
}
