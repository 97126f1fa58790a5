import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * Returns the body of a response of the admin server of a process that this one has started, whatever its status. Rejects if it is
 * not complete in time. Each request has a new connection, because a kept one would belong to a process that may have been replaced.
 */
export async function askProcess(
  url: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<string> {
  const late = AbortSignal.timeout(timeoutMs)
  const given = signal === undefined ? late : AbortSignal.any([signal, late])
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { signal: given, agent: false }, resolve).on('error', reject)
  })
  return text(response)
}
