import { connect } from 'node:net'
import { host } from '@tollgate/deploy/standalone/ports'

const defaultTimeoutMs = 2_000

/** Sends bytes and collects the answer until it is complete. Returns undefined if none arrives in time. */
export function requestOverTcp(
  port: number,
  request: Uint8Array,
  isComplete: (answer: Buffer) => boolean,
  timeoutMs = defaultTimeoutMs,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0)
    const socket = connect(port, host)
    const finish = (result: Buffer | undefined): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    const timer = setTimeout(() => finish(undefined), timeoutMs)
    socket.once('connect', () => socket.write(request))
    socket.on('data', (chunk) => {
      answer = Buffer.concat([answer, chunk])
      if (isComplete(answer)) finish(answer)
    })
    socket.once('error', () => finish(undefined))
    socket.once('close', () => finish(undefined))
  })
}

const httpTimeoutMs = 2_000

/** Returns whether a request is answered successfully in time. */
export async function answersHttp(
  url: string,
  headers: Record<string, string> = {},
): Promise<boolean> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(httpTimeoutMs) })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}
